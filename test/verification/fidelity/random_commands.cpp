#include "verification/fidelity/random_commands.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/scripts.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace holdfast::test {

namespace {

using words = random_commands::words;

// The last one is from the Redis manual.
const redis::script scripts[] = {redis::release_script, redis::renew_script, redis::pass_on_script,
    redis::enqueue_script, redis::join_script, redis::owner_script, redis::open_script,
    redis::baton_script, redis::untrack_script,
    {"if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n    return redis.call(\"del\",KEYS[1])\n"
     "else\n    return 0\nend",
        "647c65a442733a1aa440f99908d249d13b4d6c4a"}};

} // namespace

std::string_view random_commands::any(std::initializer_list<std::string_view> of)
{
    return *(of.begin() + roll(of.size()));
}

std::vector<std::string_view> random_commands::pieces(std::string_view bytes)
{
    std::vector<std::string_view> all;
    const std::size_t longest = one_in(2) ? bytes.size() : 1 + roll(40);
    while (!bytes.empty()) {
        const std::size_t size = std::min(bytes.size(), longest == 1 ? 1 : 1 + roll(longest));
        all.push_back(bytes.substr(0, longest >= bytes.size() ? bytes.size() : size));
        bytes.remove_prefix(all.back().size());
    }
    return all;
}

std::string random_commands::key()
{
    if (one_in(30))
        return one_in(2) ? "" : std::string("k\0\r\n", 4);
    if (what_ != about::fencing && one_in(10))
        return "w"; // the window of a queue
    return std::string(any({"a", "b", "c", "list", "q", "f", "n"}));
}

std::string random_commands::token()
{
    if (one_in(30))
        return one_in(2) ? "" : std::string("\0\xff\r\n", 4);
    return std::string(any({"x", "y", "0123456789abcdef0123456789abcdef"}));
}

words random_commands::set()
{
    words w{"SET", key(), token()};
    if (one_in(2))
        return {"SET", key(), token(), "NX", "PX", number()};
    for (std::size_t left = roll(4); left > 0; --left) {
        switch (roll(8)) {
        case 0:
            w.emplace_back("NX");
            break;
        case 1:
            w.emplace_back("XX");
            break;
        case 2:
            w.emplace_back("GET");
            break;
        case 3:
            w.emplace_back("KEEPTTL");
            break;
        case 4:
            w.emplace_back(any({"IFEQ", "NXX", ""}));
            break;
        default:
            w.emplace_back(any({"PX", "PX", "EX", "PXAT", "EXAT"}));
            w.push_back(number());
        }
    }
    return w;
}

words random_commands::expire()
{
    words w{one_in(3) ? "EXPIRE" : "PEXPIRE", key(), number()};
    while (one_in(3))
        w.emplace_back(what_ == about::no_time ? any({"NX", "XX", "foo\r\n"})
                                               : any({"NX", "XX", "GT", "LT", "foo\r\n"}));
    return w;
}

words random_commands::script_call()
{
    const redis::script* chosen = &scripts[roll(std::size(scripts))];
    if (what_ == about::fencing && one_in(2))
        chosen = &redis::open_script;
    if (what_ == about::everything && chosen->text == redis::open_script.text && !one_in(8))
        chosen = &redis::join_script; // a real server takes long to write all registers
    if (what_ == about::no_time &&
        (chosen->text == redis::enqueue_script.text || chosen->text == redis::baton_script.text))
        chosen = &redis::pass_on_script; // what the others say depends on the time
    if (what_ == about::no_time && chosen->text == redis::open_script.text)
        chosen = &redis::join_script; // the same
    const redis::script& s = *chosen;
    words w;
    if (one_in(4)) {
        w = {"EVAL", std::string(s.text)};
    } else {
        w = {"EVALSHA", std::string(s.digest)};
        if (one_in(20))
            w[1] = any({"", "0123456789012345678901234567890123456789", "50d5623029ae729a"});
        if (one_in(20))
            std::transform(w[1].begin(), w[1].end(), w[1].begin(),
                [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    }
    if (s.text == redis::join_script.text)
        return join_call(std::move(w));
    if (s.text == redis::pass_on_script.text || s.text == redis::enqueue_script.text)
        return queue_call(std::move(w), s.text == redis::enqueue_script.text);
    if (s.text == redis::baton_script.text)
        return baton_call(std::move(w));
    if (s.text == redis::open_script.text)
        return open_call(std::move(w));
    const bool renews = s.text == redis::renew_script.text;
    const std::size_t keys = one_in(15) ? 0 : renews ? 1 + roll(4) : 1;
    w.push_back(one_in(20) ? number() : std::to_string(keys));
    for (std::size_t i = 0; i < keys; ++i)
        w.push_back(key());
    for (std::size_t i = 0; i < keys; ++i) {
        w.push_back(token());
        if (renews)
            w.push_back(number());
    }
    while (w.size() > 3 && one_in(15))
        w.pop_back();
    return w;
}

words random_commands::on_key()
{
    const bool timed = what_ == about::everything;
    switch (roll(12)) {
    case 0:
        return {"SETNX", key(), token()};
    case 1:
    case 2:
        return {"GET", key()};
    case 3:
        return {"GETSET", key(), token()};
    case 4:
        return {"DEL", key()};
    case 5:
        return {any({"DEL", "EXISTS"}).data(), key(), key(), key()};
    case 6:
        return {"TYPE", key()};
    case 7:
    case 8:
        return timed ? words{"PTTL", key()} : words{"EXISTS", key()};
    case 9:
        return timed ? words{"TTL", key()} : words{"GET", key()};
    case 10:
        return {"LPUSH", one_in(6) ? key() : "list", token()};
    default:
        return {"PING"};
    }
}

words random_commands::on_connection()
{
    switch (roll(12)) {
    case 0:
        return {"HELLO", one_in(3) ? "2" : "3"};
    case 1:
        return {"HELLO", std::string(any({"2", "3", "4", "x", "-3"})), "SETNAME",
            std::string(any({"me", "not me", ""}))};
    case 2:
        return {"HELLO", "3", "AUTH", std::string(any({"default", "somebody"})),
            std::string(any({"secret", "wrong"})), std::string(any({"SETNAME", "foo", "AUTH"})),
            "name"};
    case 3:
        return {"AUTH", std::string(any({"secret", "wrong", "\r\n"}))};
    case 4:
        return {"AUTH", std::string(any({"default", "somebody"})),
            std::string(any({"secret", "wrong"}))};
    case 5:
    case 6:
        return {"SELECT", std::string(any({"0", "0", "0", "1", "15", "16", "-1", "x", "2147483647",
                              "2147483648", "-2147483649", "99999999999999999999"}))};
    case 7:
        return {"CLIENT", "SETNAME", std::string(any({"me", "not me", "", "\x7f"}))};
    case 8:
        return {"CLIENT", std::string(any({"ID", "GETNAME", "foo", "SETINFO"}))};
    case 9:
        return {"CLIENT", "SETINFO", "LIB-NAME", "holdfast"};
    case 10:
        return {"INFO", std::string(any({"server", "SERVER", "everything", "foo"}))};
    default:
        return {std::string(any({"ROLE", "TIME", "HELLO", "INFO", "PING"}))};
    }
}

words random_commands::on_scripts()
{
    switch (roll(8)) {
    case 0:
        return {"SCRIPT", "FLUSH"};
    case 1:
        return {"SCRIPT", "FLUSH", std::string(any({"SYNC", "ASYNC", "foo"}))};
    case 2:
    case 3:
        return {"SCRIPT", "EXISTS", std::string(scripts[roll(std::size(scripts))].digest), "foo",
            std::string(scripts[roll(std::size(scripts))].digest)};
    case 4:
        return {"SCRIPT", std::string(any({"foo", "EXISTS", "LOAD"}))};
    default:
        return {"SCRIPT", "LOAD", std::string(scripts[roll(std::size(scripts))].text)};
    }
}

words random_commands::correct()
{
    if (watch_next_ && one_in(6))
        return {"CLIENT", "TRACKING", std::string(any({"OFF", "ON"})), "OPTIN"};
    if (std::exchange(watch_next_, false))
        return one_in(3) ? script_call() : one_in(3) ? on_sorted_set() : on_key();
    if (what_ == about::batons && !one_in(3)) {
        if (planned_.empty())
            give_lease();
        const words w = std::move(planned_.front());
        planned_.pop_front();
        return w;
    }
    if (what_ == about::fencing && !one_in(3))
        return one_in(2) ? on_registers() : script_call();
    if (one_in(20))
        return on_registers();
    const std::size_t what = roll(100);
    if (what < 15)
        return set();
    if (what < 40)
        return script_call();
    if (what < 45)
        return expire();
    if (what < 60)
        return on_key();
    if (what < 74)
        return on_sorted_set();
    if (what < 81)
        return on_channel();
    if (what < 90)
        return on_tracking();
    if (what < 94)
        return on_connection();
    if (what < 98)
        return on_scripts();
    if (what < 99)
        return {std::string(any({"FOO", "", "GETT", "foo\r\nbar", "REDIS:CALL"})), token(), key(),
            std::string(roll(150), 'q'), std::string(roll(150), 'r')};
    words w{"FLUSHALL"};
    if (one_in(2))
        w.emplace_back(any({"ASYNC", "SYNC", "foo"}));
    return w;
}

// Some words stay unchanged, so that a mistake does not produce a command that only the real server
// knows: another script, CLIENT LIST, SYNC.
void random_commands::make_mistake(words& command)
{
    const std::string& name = command[0];
    if (name == "UNSUBSCRIBE") // without arguments its replies have no fixed order
        return;
    const bool fixed = name == "EVAL" || name == "SCRIPT" || name == "CLIENT" || name == "FLUSHALL";
    const std::size_t kind = roll(fixed ? 2 : 4);
    if (kind == 0 && command.size() > 1) {
        command.pop_back();
    } else if (kind <= 1) {
        if (command.size() > 2 || !fixed)
            command.push_back(one_in(2) ? token() : number());
    } else if (kind == 2) {
        command[roll(command.size())] = one_in(2) ? token() : key();
    } else {
        std::swap(command[roll(command.size())], command.back());
    }
}

words random_commands::next()
{
    words w = correct();
    if (one_in(15))
        make_mistake(w);
    if (one_in(4)) { // the server ignores the case
        std::string& name = w[w.size() > 3 && w[0] == "SET" ? roll(2) * 3 : 0];
        for (char& c : name)
            c = static_cast<char>(one_in(2) ? std::tolower(static_cast<unsigned char>(c)) : c);
    }
    return w;
}

} // namespace holdfast::test
