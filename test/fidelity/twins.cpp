#include "fidelity/twins.hpp"

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

std::optional<redis_model::time> time_in(const std::vector<std::string>& replies) // to TIME
{
    BOOST_REQUIRE_EQUAL(replies.size(), 1u);
    const std::string& reply = replies.front();
    if (reply.starts_with('-'))
        return std::nullopt;
    std::int64_t parts[2]{};
    std::size_t at = 0;
    for (std::int64_t& part : parts) {
        at = reply.find("\r\n", reply.find('$', at)) + 2;
        std::from_chars(reply.data() + at, reply.data() + reply.size(), part);
    }
    return redis_model::time(parts[0] * 1000 + parts[1] / 1000);
}

} // namespace

std::size_t twins::compared = 0, twins::pushes = 0;

twins::twins(std::string password, const std::vector<std::string>& arguments)
    : server_(with_password(password, arguments)),
      model_({}),
      password_(std::move(password))
{
    model_ = redis_model(learn_about_server(), password_);
    model_.on_push = [this](std::uint64_t session, std::string_view bytes) {
        pushes_[session] += bytes;
    };
    last_ = real_time();
}

// Its run id. It does not throw keys out on its own from now on.
std::string twins::learn_about_server()
{
    if (!password_.empty())
        real_only({"AUTH", password_});
    const std::string info = real_only({"INFO", "server"});
    version_ = line_of(info, "redis_version");
    BOOST_REQUIRE_MESSAGE(version_.starts_with("7.0."), "the model is that of Redis 7.0");
    BOOST_REQUIRE_EQUAL(real_only({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}), "OK");
    return line_of(info, "run_id");
}

twins::time twins::real_time()
{
    const std::string now = real_only({"TIME"});
    const std::size_t second_line = now.find('\n') + 1;
    return time(1000 * std::stoll(now) + std::stoll(now.substr(second_line)) / 1000);
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

// Reads all the way, and puts what has come to the commands that it came of.
std::vector<twins::unit> twins::ask_real(
    connection& to, const std::vector<words>& commands, random_commands& random, clock c)
{
    const std::string between =
        (c == clock::shown ? encode_command({"TIME"}) : std::string()) + separator;
    std::vector<unit> units;
    std::string bytes = between;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (i == 0 || !is(commands[i - 1], "client")) // which may be about the next command
            units.push_back({});
        units.back().commands.push_back(commands[i]);
        bytes += encode_command(commands[i]);
        if (!is(commands[i], "client") || i + 1 == commands.size())
            bytes += between;
    }
    BOOST_REQUIRE(to.real.send(random.pieces(bytes)));
    if (c == clock::hidden)
        BOOST_REQUIRE(to.real.receive_before(separated).empty());
    else
        last_ = time_in(to.real.receive_before(separated)).value_or(last_);
    std::vector<std::optional<time>> shown; // after each; not to one who may only listen
    for (unit& u : units) {
        u.when.before = last_;
        u.replies = to.real.receive_before(separated);
        if (c == clock::hidden) {
            u.when.after = last_;
            continue;
        }
        shown.push_back(time_in({u.replies.back()}));
        u.replies.pop_back();
        last_ = shown.back().value_or(last_);
    }
    for (std::size_t i = shown.size(); i > 0; --i) {
        if (i == shown.size() && !shown.back())
            shown.back() = last_ = real_time();
        shown[i - 1] = shown[i - 1] ? shown[i - 1] : shown[i];
        units[i - 1].when.after = *shown[i - 1];
    }
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
        auto said = read_pushes(*c);
        auto told = replies_in(std::exchange(pushes_[c->session.id], {}));
        if (doubtful_) {
            leave_out_changes(said);
            leave_out_changes(told);
        }
        BOOST_REQUIRE_MESSAGE(said == told, "the server sends " << visible(all_of(said))
                                                                << "\nthe model sends  "
                                                                << visible(all_of(told)));
        pushes += told.size();
    }
}

// What it is not certain that both have. Where that cannot be done, no key has been changed, but
// who has been told of one that is over?
void twins::forget()
{
    using trouble = redis_model::trouble;
    doubtful_ = model_.state != trouble::none && model_.state != trouble::out_of_memory;
    for (const auto& c : connections_)
        read_pushes(*c);
    pushes_.clear();
    if (doubtful_)
        return;
    flush_model();
    BOOST_REQUIRE_EQUAL(real_only({"FLUSHALL"}), "OK");
    compare_pushes();
}

// That keys which somebody watches have changed.
void twins::leave_out_changes(std::vector<std::string>& replies)
{
    std::erase_if(replies,
        [](const auto& reply) { return reply.starts_with(">2\r\n$10\r\ninvalidate\r\n"); });
}

void twins::flush_model()
{
    redis_model::session somebody;
    somebody.authenticated = true;
    somebody.id = std::numeric_limits<std::uint64_t>::max(); // no connection has it
    std::string told;
    model_.receive(somebody, encode_command({"FLUSHALL"}), last_, told);
    BOOST_REQUIRE_EQUAL(told, "+OK\r\n");
}

void twins::disconnect(std::size_t number)
{
    const std::string mark = "id=" + std::to_string(connections_[number]->session.id) + " ";
    connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(number));
    while (real_only({"CLIENT", "LIST"}).find(mark) != std::string::npos) {
    }
}

void twins::disconnect_all()
{
    while (!connections_.empty())
        disconnect(connections_.size() - 1);
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
    server_.restart();
    model_.restart(learn_about_server(), model_.contents());
}

bool twins::say(
    connection& to, const std::vector<words>& commands, random_commands& random, clock c)
{
    if (doubtful_ && model_.state == redis_model::trouble::none)
        forget();
    const auto units = ask_real(to, commands, random, c);
    const bool certain = compare(to, units, random);
    certain ? compare_pushes() : forget();
    return certain;
}

void twins::say(std::size_t count, random_commands& random, clock c)
{
    for (const std::size_t end = compared + count; compared < end;) {
        while (connections_.size() < 3) {
            connection& fresh = connected(connections_.size());
            if (random.one_in(2))
                say(fresh, {{"HELLO", "3"}}, random, c);
        }
        std::vector<words> commands(1 + random.roll(20));
        std::generate(commands.begin(), commands.end(), [&] { return random.next(); });
        say(connected(random.roll(3)), commands, random, c);
        if (c == clock::shown && random.one_in(100) && !connections_.empty())
            disconnect(random.roll(connections_.size()));
    }
}

void twins::say_bytes(std::string_view bytes, random_commands& random)
{
    const auto to = connect();
    std::string told;
    for (const std::string_view piece : random.pieces(bytes))
        model_.receive(to->session, piece, last_, told);
    to->real.send(random.pieces(bytes));
    const std::string said = as_if_7_0_15(to->real.finish());
    BOOST_REQUIRE_MESSAGE(said == told, "to " << visible(bytes) << "\nthe server says "
                                              << visible(said) << "\nthe model says  "
                                              << visible(told));
    compared += replies_in(said).size();
}

} // namespace holdfast::test
