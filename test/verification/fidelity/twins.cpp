#include "verification/fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace holdfast::test {

namespace {

using words = twins::words;

std::vector<std::string> with_password(
    const std::string& password, const std::vector<std::string>& arguments)
{
    auto all = arguments;
    all.insert(all.end(), {"--enable-debug-command", "yes"});
    if (!password.empty())
        all.insert(all.end(), {"--requirepass", password});
    return all;
}

} // namespace

std::size_t twins::compared = 0, twins::pushes = 0;

twins::twins(std::string password, const std::vector<std::string>& arguments)
    : now_(1'700'000'000'000),
      clock_(now_),
      server_(clock_.start([&] { return redis_server(with_password(password, arguments)); })),
      model_({}),
      password_(std::move(password))
{
    model_ = redis_model(learn_about_server(), password_);
    model_.on_push = [this](std::uint64_t session, std::string_view bytes) {
        pushes_[session] += bytes;
    };
}

// Returns its run id. Switches off active expiry.
std::string twins::learn_about_server()
{
    if (!password_.empty())
        real_only({"AUTH", password_});
    const std::string info = real_only({"INFO", "server"});
    version_ = line_of(info, "redis_version");
    BOOST_REQUIRE_MESSAGE(version_.starts_with("7.0."), "the model is a model of Redis 7.0");
    BOOST_REQUIRE_EQUAL(real_only({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}), "OK");
    return line_of(info, "run_id");
}

void twins::pass(time by)
{
    now_ += by;
    clock_.stand(now_);
}

std::unique_ptr<twins::connection> twins::connect()
{
    auto c = std::make_unique<connection>(server_.port());
    c->real.send({"*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n"});
    std::string id = c->real.receive(1).front();
    if (id[0] != ':') { // CLIENT ID is refused here: take the id of the newest connection
        id = real_only({"CLIENT", "LIST"});
        id.erase(0, id.rfind("id=", id.rfind("laddr=")) + 2);
    }
    std::from_chars(id.data() + 1, id.data() + id.size(), c->session.id);
    return c;
}

// Sends the commands and assigns the replies to the commands that caused them.
std::vector<twins::unit> twins::ask_real(
    connection& to, const std::vector<words>& commands, random_commands& random)
{
    std::vector<unit> units;
    std::string bytes = separator;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (i == 0 || !is(commands[i - 1], "client")) // CLIENT may affect the next command
            units.push_back({});
        units.back().commands.push_back(commands[i]);
        bytes += encode_command(commands[i]);
        if (!is(commands[i], "client") || i + 1 == commands.size())
            bytes += separator;
    }
    BOOST_REQUIRE(to.real.send(random.pieces(bytes)));
    BOOST_REQUIRE(to.real.receive_before(separated).empty());
    for (unit& u : units)
        u.replies = to.real.receive_before(separated);
    return units;
}

std::vector<std::string> twins::read_pushes(connection& of)
{
    of.real.send({separator});
    return of.real.receive_before(separated);
}

void twins::compare_pushes()
{
    for (const auto& c : connections_) {
        const auto said = read_pushes(*c);
        const auto told = replies_in(std::exchange(pushes_[c->session.id], {}));
        BOOST_REQUIRE_MESSAGE(said == told, "the server sends " << visible(all_of(said))
                                                                << "\nthe model sends  "
                                                                << visible(all_of(told)));
        pushes += told.size();
    }
}

void twins::flush_model()
{
    redis_model::session other;
    other.authenticated = true;
    other.id = std::numeric_limits<std::uint64_t>::max(); // no connection has this id
    std::string reply;
    model_.receive(other, encode_command({"FLUSHALL"}), now_, reply);
    BOOST_REQUIRE_EQUAL(reply, "+OK\r\n");
}

void twins::disconnect(std::size_t number)
{
    const std::string mark = "id=" + std::to_string(connections_[number]->session.id) + " ";
    connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(number));
    while (real_only({"CLIENT", "LIST"}).find(mark) != std::string::npos) {
    }
}

twins::connection& twins::connected(std::size_t number)
{
    while (connections_.size() <= number)
        connections_.push_back(connect());
    return *connections_[number];
}

void twins::restart()
{
    BOOST_REQUIRE_EQUAL(real_only({"SAVE"}), "OK");
    connections_.clear();
    clock_.start([this] { server_.restart(); });
    model_.restart(learn_about_server(), model_.contents());
}

void twins::say(connection& to, const std::vector<words>& commands, random_commands& random)
{
    compare(to, ask_real(to, commands, random), random);
    compare_pushes();
}

void twins::say(std::size_t count, random_commands& random)
{
    for (const std::size_t end = compared + count; compared < end;) {
        while (connections_.size() < 3) {
            connection& fresh = connected(connections_.size());
            if (random.one_in(2))
                say(fresh, {{"HELLO", "3"}}, random);
        }
        pass(time(random.roll(5)) - time(random.one_in(20) ? 3 : 0));
        std::vector<words> commands(1 + random.roll(20));
        std::generate(commands.begin(), commands.end(), [&] { return random.next(); });
        say(connected(random.roll(3)), commands, random);
        const bool lists_clients = model_.state != redis_model::trouble::busy &&
                                   model_.state != redis_model::trouble::loading;
        if (lists_clients && random.one_in(100))
            disconnect(random.roll(connections_.size()));
    }
}

void twins::say_bytes(std::string_view bytes, random_commands& random)
{
    const auto to = connect();
    std::string told;
    for (const std::string_view piece : random.pieces(bytes))
        model_.receive(to->session, piece, now_, told);
    to->real.send(random.pieces(bytes));
    const std::string said = as_if_7_0_15(to->real.finish());
    BOOST_REQUIRE_MESSAGE(said == told, "to " << visible(bytes) << "\nthe server answers "
                                              << visible(said) << "\nthe model answers  "
                                              << visible(told));
    compared += replies_in(said).size();
}

} // namespace holdfast::test
