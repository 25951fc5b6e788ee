#include "fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::test {

namespace {

using words = twins::words;

std::vector<std::string> with_password(
    const std::string& password, const std::vector<std::string>& arguments)
{
    auto all = arguments;
    if (!password.empty())
        all.insert(all.end(), {"--requirepass", password});
    return all;
}

std::string in_words(const words& command)
{
    std::string all;
    for (const std::string& word : command)
        all += (all.empty() ? "" : " ") + visible(word);
    return all;
}

bool is(const words& command, std::string_view name)
{
    return std::equal(command[0].begin(), command[0].end(), name.begin(), name.end(),
        [](char a, char b) { return (a | 0x20) == b; });
}

// The value of a line of INFO.
std::string line_of(std::string_view info, std::string_view name)
{
    const std::string start = "\n" + std::string(name) + ":";
    const std::size_t at = info.find(start);
    if (at == info.npos)
        return {};
    const std::size_t from = at + start.size();
    return std::string(info.substr(from, info.find('\r', from) - from));
}

// What is the same in all replies of a kind: digits, and other bytes, as they follow each other.
std::string form(std::string_view reply)
{
    std::string all;
    for (const char c : reply) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit || !all.ends_with('0'))
            all += digit ? '0' : c;
    }
    return all;
}

redis_model::time milliseconds_in(const std::string& reply) // to TIME
{
    std::int64_t parts[2]{};
    std::size_t at = 0;
    for (std::int64_t& part : parts) {
        at = reply.find("\r\n", reply.find('$', at)) + 2;
        std::from_chars(reply.data() + at, reply.data() + reply.size(), part);
    }
    return redis_model::time(parts[0] * 1000 + parts[1] / 1000);
}

} // namespace

std::size_t twins::compared = 0;

twins::twins(std::string password, const std::vector<std::string>& arguments)
    : server_(with_password(password, arguments)),
      model_({})
{
    if (!password.empty())
        real_only({"AUTH", password});
    const std::string info = real_only({"INFO", "server"});
    version_ = line_of(info, "redis_version");
    BOOST_REQUIRE_MESSAGE(version_.starts_with("7.0."), "the model is that of Redis 7.0");
    model_ = redis_model(line_of(info, "run_id"), password);
    last_ = time(1000 * std::stoll(real_only({"TIME"})));
}

std::unique_ptr<twins::connection> twins::connect()
{
    auto c = std::make_unique<connection>(server_.port());
    c->real.send({"*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n"});
    std::string id = c->real.receive(1).front();
    if (id[0] != ':') { // it may not ask; then it is the last of all that have been accepted
        id = real_only({"CLIENT", "LIST"});
        id.erase(0, id.rfind("id=", id.rfind("laddr=")) + 2);
    }
    std::from_chars(id.data() + 1, id.data() + id.size(), c->session.id);
    return c;
}

bool twins::equal(const words& command, const std::string& real, const std::string& model) const
{
    if (is(command, "time"))
        return form(real) == form(model);
    if (is(command, "hello")) {
        const std::string version = "$" + std::to_string(version_.size()) + "\r\n" + version_;
        const std::size_t at = real.find(version);
        return at == real.npos
                   ? real == model
                   : std::string(real).replace(at, version.size(), "$6\r\n7.0.15") == model;
    }
    // Of whom it is a replica, and how far it has come with that, differs.
    if (constexpr std::string_view start = "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:";
        is(command, "role") && model.starts_with(start))
        return real.starts_with(start);
    if (is(command, "info") && model.find("run_id") != model.npos)
        return real[0] == model[0] && line_of(real, "redis_mode") == line_of(model, "redis_mode") &&
               line_of(real, "run_id") == line_of(model, "run_id");
    return real == model;
}

std::string twins::ask_model(
    connection& to, const std::vector<words>& commands, time when, random_commands& random)
{
    std::string bytes, replies;
    for (const words& command : commands)
        bytes += encode_command(command);
    for (const std::string_view piece : random.pieces(bytes))
        model_.receive(to.session, piece, when, replies);
    return replies;
}

// All at the same time, so they can be in one input.
void twins::compare_group(connection& to, const std::vector<words>& commands,
    const std::vector<std::string>& replies, time when, random_commands& random)
{
    const auto told = replies_in(ask_model(to, commands, when, random));
    BOOST_REQUIRE_EQUAL(told.size(), replies.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (!equal(commands[i], replies[i], told[i])) {
            std::string before;
            for (std::size_t k = 0; k <= i; ++k)
                before += "\n  " + in_words(commands[k]);
            BOOST_FAIL("after" << before << "\nthe server says " << visible(replies[i])
                               << "\nthe model says  " << visible(told[i]));
        }
        ++compared;
    }
}

// The model has to say the same at some time of these. False if it is not known what it has
// stored then, because that depends on which of them it was.
bool twins::compare_one(connection& to, const words& command, const std::string& reply, times when)
{
    const std::string bytes = encode_command(command);
    std::vector<redis_model::data> possible;
    time right{};
    std::string told;
    for (time t = when.before; t <= when.after; ++t) {
        redis_model model = model_;
        model.on_change = nullptr;
        redis_model::session session = to.session;
        told.clear();
        model.receive(session, bytes, t, told);
        if (!equal(command, reply, told))
            continue;
        right = t;
        model.expire(when.after);
        possible.push_back(model.contents());
    }
    BOOST_REQUIRE_MESSAGE(!possible.empty(), "to " << in_words(command) << "\nthe server says "
                                                   << visible(reply) << "\nthe model says  "
                                                   << visible(told));
    ++compared;
    model_.receive(to.session, bytes, right, told);
    return std::all_of(possible.begin(), possible.end(),
        [&](const auto& each) { return each == possible.front(); });
}

void twins::compare(connection& to, const std::vector<words>& commands,
    const std::vector<std::string>& replies, const std::vector<times>& when,
    random_commands& random)
{
    const auto at = [](auto& all, std::size_t n) {
        return all.begin() + static_cast<std::ptrdiff_t>(n);
    };
    for (std::size_t i = 0; i < commands.size();) {
        std::size_t end = i;
        while (end < commands.size() && when[end].before == when[end].after &&
               when[end].before == when[i].before)
            ++end;
        if (end > i) {
            compare_group(to, {at(commands, i), at(commands, end)},
                {at(replies, i), at(replies, end)}, when[i].before, random);
            i = end;
        } else if (compare_one(to, commands[i], replies[i], when[i])) {
            ++i;
        } else { // SELECT and the like are executed by both all the same
            ask_model(to, {at(commands, i + 1), commands.end()}, when.back().after, random);
            return forget_keys(to);
        }
    }
}

void twins::forget_keys(connection& to)
{
    using trouble = redis_model::trouble;
    if (model_.state != trouble::none && model_.state != trouble::out_of_memory)
        return; // nothing can be changed there, so nothing was
    const std::string flush = encode_command({"FLUSHALL"});
    std::string told;
    to.real.send({flush});
    model_.receive(to.session, flush, last_, told);
    BOOST_REQUIRE_EQUAL(to.real.receive(1).front(), told);
}

void twins::say(
    connection& to, const std::vector<words>& commands, random_commands& random, clock c)
{
    const std::string time_please = encode_command({"TIME"});
    std::string bytes;
    for (const words& command : commands)
        bytes += (c == clock::shown ? time_please : "") + encode_command(command);
    if (c == clock::shown)
        bytes += time_please;
    BOOST_REQUIRE(to.real.send(random.pieces(bytes)));
    if (c == clock::hidden)
        return compare_group(to, commands, to.real.receive(commands.size()), last_, random);

    const auto all = to.real.receive(2 * commands.size() + 1);
    std::vector<std::string> replies;
    std::vector<times> when;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        when.push_back({milliseconds_in(all[2 * i]), milliseconds_in(all[2 * i + 2])});
        replies.push_back(all[2 * i + 1]);
    }
    last_ = when.back().after;
    compare(to, commands, replies, when, random);
}

void twins::say(std::size_t count, random_commands& random, clock c)
{
    while (connections_.size() < 3)
        connections_.push_back(connect());
    for (const std::size_t end = compared + count; compared < end;) {
        std::vector<words> commands(1 + random.roll(20));
        std::generate(commands.begin(), commands.end(), [&] { return random.next(); });
        say(*connections_[random.roll(connections_.size())], commands, random, c);
    }
}

void twins::say_bytes(std::string_view bytes, random_commands& random)
{
    const auto to = connect();
    std::string told;
    for (const std::string_view piece : random.pieces(bytes))
        model_.receive(to->session, piece, last_, told);
    to->real.send(random.pieces(bytes));
    const std::string said = to->real.finish();
    BOOST_REQUIRE_MESSAGE(said == told, "to " << visible(bytes) << "\nthe server says "
                                              << visible(said) << "\nthe model says  "
                                              << visible(told));
    compared += replies_in(said).size();
}

} // namespace holdfast::test
