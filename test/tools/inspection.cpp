// Who holds a lock: `inspect` and `list`.
#include "tools/cli.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>

namespace {

using namespace holdfast::test;
using boost::json::array;
using boost::json::object;

struct cli_inspection_fixture {
    std::vector<redis_server> servers = start_servers(3);
    words variables{store_of(servers)};

    void command(const words& what)
    {
        for (redis_server& each : servers)
            each.command(what);
    }

    // The key of the only client record at this node. Records are written beside the lock, and may
    // come later.
    static std::string wait_for_record(redis_server& node)
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        std::string key;
        while ((key = node.command({"KEYS", "holdfast:client:*"})).empty())
            BOOST_REQUIRE(std::chrono::steady_clock::now() < deadline);
        return key;
    }
};

object json_of(const cli_result& result)
{
    return boost::json::parse(result.output).as_object();
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_inspection, cli_inspection_fixture)

BOOST_AUTO_TEST_CASE(the_status_tells_whether_a_lock_is_held)
{
    BOOST_TEST(run_cli({"inspect", "job"}, variables).status == 1);
    const auto holder = hold("job", variables);
    const auto held = run_cli({"inspect", "job"}, variables);
    BOOST_TEST(held.status == 0);
    const words parts{"held", "(holdfast), holdfast-cli", "ttl left", "owner", "nodes",
        std::to_string(holder.pid())};
    for (const std::string& part : parts)
        BOOST_TEST(has(held.output, part), part << " in " << held.output);
    BOOST_TEST(!has(held.output, "\x1b"));
    const auto quiet = run_cli({"-q", "inspect", "job"}, variables);
    BOOST_TEST(quiet.status == 0);
    BOOST_TEST(quiet.output.empty(), quiet.output);
}

BOOST_AUTO_TEST_CASE(a_lock_as_json)
{
    const auto holder = hold("job", variables);
    const object lock = json_of(run_cli({"--json", "inspect", "job"}, variables));
    BOOST_TEST(lock.at("resource").as_string() == "job");
    BOOST_TEST(lock.at("held").as_bool());
    BOOST_TEST(lock.at("majority").as_int64() == 2);
    BOOST_TEST(lock.at("having").as_int64() >= 2);
    BOOST_TEST(lock.at("ttl_left_ms").as_int64() > 0);
    BOOST_TEST(lock.at("fence").is_null());
    BOOST_TEST(lock.at("nodes").as_array().size() == 3u);
    const object& owner = lock.at("owner").as_object();
    BOOST_TEST(!owner.at("foreign").as_bool());
    BOOST_TEST(owner.at("since").as_int64() > 0);
    const object& client = owner.at("client").as_object();
    BOOST_TEST(client.at("pid").as_int64() == holder.pid());
    BOOST_TEST(client.at("client_name").as_string() == "holdfast-cli");
}

BOOST_AUTO_TEST_CASE(a_result_that_cannot_be_written_is_a_failure)
{
    for (const words& arguments :
        {words{"ping"}, words{"--json", "list"}, words{"inspect", "job"}}) {
        const auto result = run_cli_into("/dev/full", arguments, variables);
        BOOST_TEST(result.status == 125);
        BOOST_TEST(has(result.output, "standard output"), result.output);
    }
}

BOOST_AUTO_TEST_CASE(a_token_of_fencing)
{
    const words fenced{variables[0]};
    auto holder = start_cli({"--fenced", "--first-deployment", "run", "job", "--", "sh", "-c",
                                "echo $HOLDFAST_TOKEN; exec sleep 1000"},
        fenced);
    const std::string token = holder.read_line();
    const object lock = json_of(run_cli({"--fenced", "--json", "inspect", "job"}, fenced));
    const auto last = lock.at("fence").as_int64();
    BOOST_TEST(last >= std::stoll(token)); // nodes reserve some more
    const auto text = run_cli({"--fenced", "inspect", "job"}, fenced).output;
    BOOST_TEST(has(text, "tokens up to " + std::to_string(last)), text);
}

BOOST_AUTO_TEST_CASE(a_queue)
{
    const auto holder = hold("job", variables);
    const auto waiting = start_cli({"run", "job", "--", "true"}, variables);
    object lock = json_of(run_cli({"--json", "inspect", "job"}, variables));
    while (lock.at("queue").is_null())
        lock = json_of(run_cli({"--json", "inspect", "job"}, variables));
    const object& queue = lock.at("queue").as_object();
    BOOST_TEST(queue.at("length").as_int64() == 1);
    const object& first = queue.at("waiters").as_array().at(0).as_object();
    BOOST_TEST(first.at("client").as_object().at("pid").as_int64() == waiting.pid());
    BOOST_TEST(has(run_cli({"inspect", "job"}, variables).output, "queue of 1 at 127.0.0.1:"));
}

BOOST_AUTO_TEST_CASE(keys_that_are_not_ours)
{
    command({"SET", "job", "someone", "PX", "60000"});
    const auto foreign = run_cli({"inspect", "job"}, variables);
    BOOST_TEST(foreign.status == 0);
    BOOST_TEST(has(foreign.output, "another client"), foreign.output);
    command({"SET", "job", "someone"});
    BOOST_TEST(has(run_cli({"inspect", "job"}, variables).output, "no ttl"));
    command({"DEL", "job"});
    command({"RPUSH", "job", "data"});
    const auto data = run_cli({"inspect", "job"}, variables);
    BOOST_TEST(data.status == 125, data.output);
    BOOST_TEST(has(data.output, "\"job\""), data.output);
}

// What a single node says of an owner is not taken for granted.
BOOST_AUTO_TEST_CASE(one_false_node)
{
    const auto holder = hold("job", variables);
    std::string key;
    for (redis_server& each : servers)
        key = wait_for_record(each);
    const std::string told = servers[0].command({"GET", key});
    const auto lie = [&](redis_server& node, const std::string& host) {
        std::string text = told;
        const auto begin = text.find("host=") + 5;
        text.replace(begin, text.find('\n', begin) - begin, host);
        node.command({"SET", key, text, "KEEPTTL"});
    };
    lie(servers[0], "innocent.example");
    const auto one = run_cli({"inspect", "job"}, variables).output;
    BOOST_TEST(!has(one, "innocent.example"), one);
    BOOST_TEST(!has(one, "(unconfirmed)"), one);
    lie(servers[1], "another.example");
    const auto two = run_cli({"inspect", "job"}, variables).output;
    BOOST_TEST(has(two, "(unconfirmed)"), two);
    BOOST_TEST(has(run_cli({"list"}, variables).output, "(unconfirmed)"));
    const object lock = json_of(run_cli({"--json", "inspect", "job"}, variables));
    BOOST_TEST(!lock.at("owner").as_object().at("client_confirmed").as_bool());

    servers[2].command({"SET", "free", "someone", "PX", "60000"});
    const auto left = run_cli({"inspect", "free"}, variables);
    BOOST_TEST(left.status == 1);
    BOOST_TEST(has(left.output, "another client (unconfirmed)"), left.output);
}

BOOST_AUTO_TEST_CASE(too_few_nodes)
{
    servers[1].kill();
    servers[2].kill();
    for (const words& arguments : {words{"inspect", "job"}, words{"list"}}) {
        const auto result = run_cli(arguments, variables);
        BOOST_TEST(result.status == 125);
        BOOST_TEST(has(result.output, "Connection refused"), result.output);
    }
    BOOST_TEST(run_cli({"inspect", ""}, variables).status == 125);
}

BOOST_AUTO_TEST_CASE(no_rights)
{
    command({"ACL", "SETUSER", "worker", "on", ">Tr0ub4dor", "+@all", "-scan", "&*", "~stock:*"});
    const words login{variables[0], "HOLDFAST_USER=worker", "HOLDFAST_PASSWORD=Tr0ub4dor"};
    for (const words& arguments :
        {words{"inspect", "job"}, words{"list"}, words{"release", "--force", "--yes", "job"}}) {
        const auto result = run_cli(arguments, login);
        BOOST_TEST(result.status == 125, result.output);
        BOOST_TEST(!result.output.empty());
        BOOST_TEST(!has(result.output, "Tr0ub4dor"), result.output);
    }
}

BOOST_AUTO_TEST_CASE(a_hostile_name_and_record)
{
    const std::string name = "job\x1b[2J\x9b\xc2\x9b";
    const auto holder = hold(name, variables);
    // All nodes tell the same, so it is not passed over.
    for (redis_server& each : servers) {
        const std::string key = wait_for_record(each);
        std::string record = each.command({"GET", key});
        const auto program = record.find("holdfast-cli");
        BOOST_REQUIRE(program != record.npos);
        record.replace(program, 12, "evil\x1b]0;x\x07\xc2\x9b");
        each.command({"SET", key, record, "PX", "60000"});
    }
    for (const words& arguments : {words{"inspect", name}, words{"list"}}) {
        const auto result = run_cli(arguments, variables);
        BOOST_TEST(result.status == 0, result.output);
        BOOST_TEST(has(result.output, "job\\x1b[2J\\x9b\\u009b"), result.output);
        // The library has replaced the ASCII controls.
        BOOST_TEST(has(result.output, "evil?]0;x?\\u009b"), result.output);
        BOOST_TEST(!has(result.output, "\x1b"));
        BOOST_TEST(!has(result.output, "\x07"));
        BOOST_TEST(!has(result.output, "\x9b"));
    }
    const auto result = run_cli({"--json", "inspect", name}, variables);
    BOOST_TEST(!has(result.output, "\x9b"));
    const object lock = json_of(result);
    BOOST_TEST(lock.at("resource_hex").as_string() == "6a6f621b5b324a9bc29b");
    const object& owner = lock.at("owner").as_object();
    const object& client = owner.at("client").as_object();
    BOOST_TEST(client.at("client_name").as_string() == "evil?]0;x?\xc2\x9b");
}

BOOST_AUTO_TEST_CASE(a_thousand_locks)
{
    constexpr std::size_t count = 1'000;
    const auto holder = hold("many:0000", variables);
    for (redis_server& each : servers) {
        const std::string token = each.command({"GET", "many:0000"});
        if (token == "(nil)")
            continue;
        each.command({"EVAL",
            "for i=1,999 do redis.call('set',string.format('many:%04d',i),ARGV[1],'px',60000) end "
            "redis.call('set','other',ARGV[1],'px',60000)",
            "0", token});
    }
    const object list = json_of(run_cli({"list", "many:", "--json"}, variables));
    BOOST_TEST(list.at("complete").as_bool());
    const array& locks = list.at("locks").as_array();
    BOOST_TEST_REQUIRE(locks.size() == count);
    BOOST_TEST(locks[0].as_object().at("resource").as_string() == "many:0000");
    BOOST_TEST(locks[999].as_object().at("resource").as_string() == "many:0999");
    BOOST_TEST(locks[999].as_object().at("held").as_bool());
    BOOST_TEST(locks[999]
                   .as_object()
                   .at("owner")
                   .as_object()
                   .at("client")
                   .as_object()
                   .at("pid")
                   .as_int64() == holder.pid());

    const auto table = run_cli({"list", "many:"}, variables);
    BOOST_TEST(table.status == 0);
    BOOST_TEST(static_cast<std::size_t>(
                   std::count(table.output.begin(), table.output.end(), '\n')) == count + 1);
    BOOST_TEST(table.output.find("many:0001") < table.output.find("many:0002"));
    BOOST_TEST(run_cli({"list", "none:"}, variables).output.empty());
    BOOST_TEST(run_cli({"list", "none:"}, variables).status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
