#pragma once

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "redis/node/scripts.hpp"
#include "resp/reader.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Generates replies by the choices of an input, and describes replies in words.
namespace holdfast::fuzz {

using words = std::vector<std::string>;

inline std::string blob(std::string_view text)
{
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

inline std::string number(std::int64_t n)
{
    return ":" + std::to_string(n) + "\r\n";
}

inline std::string short_line(input& in)
{
    std::string line(in.text(in.below(8)));
    for (char& c : line)
        c = c == '\r' || c == '\n' ? '.' : c;
    return line;
}

void append_value(std::string& out, input& in, unsigned depth = 0);

// An aggregate of this type with a few elements, each of them made of `each` values.
inline void append_aggregate(
    std::string& out, char type, input& in, unsigned depth, std::size_t each = 1)
{
    const std::size_t count = in.below(3);
    out += type + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count * each; ++i)
        append_value(out, in, depth + 1);
}

// One complete value of any type except push. Errors do not end the connection.
inline void append_value(std::string& out, input& in, unsigned depth)
{
    switch (in.below(depth < 3 ? 14 : 10)) {
    case 0:
        out += "+" + short_line(in) + "\r\n";
        break;
    case 1:
        out += blob(in.text(in.below(24)));
        break;
    case 2:
        out += number(static_cast<std::int8_t>(in.byte()));
        break;
    case 3:
        out += "_\r\n";
        break;
    case 4:
        out += "-ERR " + short_line(in) + "\r\n";
        break;
    case 5:
        out += in.flag() ? "#t\r\n" : "#f\r\n";
        break;
    case 6:
        out += ",1.5e" + std::to_string(in.byte()) + "\r\n";
        break;
    case 7:
        out += "(1234567890123456789012345" + std::to_string(in.byte()) + "\r\n";
        break;
    case 8:
        out += "=7\r\ntxt:abc\r\n";
        break;
    case 9:
        out += in.flag() ? "$-1\r\n" : "*-1\r\n";
        break;
    case 10:
        return append_aggregate(out, '*', in, depth);
    case 11:
        return append_aggregate(out, '~', in, depth);
    case 12:
        return append_aggregate(out, '%', in, depth, 2);
    case 13: // an attribute, and the value that it describes
        append_aggregate(out, '|', in, depth, 2);
        return append_value(out, in, depth + 1);
    }
}

inline void append_push(std::string& out, input& in)
{
    append_aggregate(out, '>', in, 0);
}

// Some replies of real servers, and some replies that no server should send.
inline std::string_view common_reply(input& in)
{
    static constexpr std::string_view table[] = {"+OK\r\n", "_\r\n", "$-1\r\n", ":1\r\n", ":0\r\n",
        ":-1\r\n", ":-2\r\n", ":9223372036854775807\r\n", "*1\r\n:1\r\n", "*1\r\n:0\r\n",
        "*2\r\n:1\r\n:1\r\n", "*2\r\n*1\r\n:1\r\n:0\r\n", "*0\r\n", "*-1\r\n", "+none\r\n",
        "+string\r\n", "+hash\r\n", "+QUEUED\r\n", "$2\r\nOK\r\n", "#t\r\n",
        "-ERR unknown command\r\n", "-NOPROTO sorry\r\n",
        "-NOSCRIPT No matching script. Please use EVAL.\r\n",
        "-NOAUTH Authentication required.\r\n", "-WRONGPASS invalid pair\r\n",
        "-NOPERM no permissions\r\n", "-READONLY You can't write against a replica.\r\n",
        "-LOADING Redis is loading\r\n", "-OOM command not allowed\r\n",
        "-BUSY running a script\r\n", "-MOVED 1 a:1\r\n", "-WRONGTYPE Operation against a key\r\n",
        "-ERR Protocol error\r\n", "%2\r\n+mode\r\n+cluster\r\n+role\r\n+master\r\n",
        "%2\r\n+mode\r\n+standalone\r\n+role\r\n+replica\r\n", "*1\r\n+slave\r\n",
        "*3\r\n+master\r\n:0\r\n*0\r\n", "$20\r\nredis_mode:cluster\r\n\r\n", "$1040\r\n",
        ">2\r\n+invalidate\r\n*1\r\n+A\r\n"};
    return in.one_of(table);
}

// The library's script that a command loads or calls, found by text or digest.
inline const redis::script& script_of(const words& command)
{
    static constexpr const redis::script* ours[] = {&redis::release_script, &redis::renew_script,
        &redis::pass_on_script, &redis::baton_script, &redis::enqueue_script, &redis::join_script,
        &redis::owner_script, &redis::untrack_script};
    const std::string& named = command.front() == "SCRIPT" ? command.back() : command[1];
    for (const redis::script* const s : ours) {
        if (named == (command.front() == "EVALSHA" ? s->digest : s->text))
            return *s;
    }
    check(false, "only the library's own scripts are called");
    return *ours[0];
}

inline bool calls(const words& command, const redis::script& s)
{
    return command.front().starts_with("EVAL") && &script_of(command) == &s;
}

// The argument number `i` of a script call, after its keys.
inline const std::string& argument(const words& command, std::size_t i)
{
    return command.at(3 + std::stoul(command[2]) + i);
}

// Whether a command is only a trial on an unused key.
inline bool is_trial(const words& command)
{
    const std::size_t key = command.front().starts_with("EVAL") ? 3 : 1;
    return command.front() != "SUBSCRIBE" && command.size() > key &&
           (command[key].starts_with("holdfast:") || command[key].starts_with("hf:holdfast:"));
}

// The reply of a correct node to a command of the handshake; empty for other commands.
inline std::string greeting_reply(const words& command, std::string_view run_id)
{
    const std::string& name = command.front();
    if (name == "HELLO")
        return "%2\r\n+mode\r\n+standalone\r\n+role\r\n+master\r\n";
    if (name == "ROLE")
        return "*3\r\n+master\r\n:0\r\n*0\r\n";
    if (name == "INFO" && command.back() == "memory")
        return blob("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
    if (name == "INFO")
        return blob("# Server\r\nredis_mode:standalone\r\nrun_id:" + std::string(run_id) + "\r\n");
    if (name == "SCRIPT")
        return blob(script_of(command).digest);
    if (is_trial(command))
        return name == "GET" ? "_\r\n" : number(0);
    if (name == "SUBSCRIBE")
        return ">3\r\n" + blob("subscribe") + blob(command.back()) + number(1);
    return name == "AUTH" || name == "SELECT" || name == "CLIENT" ? "+OK\r\n" : "";
}

// The words of a command.
inline words words_of(std::span<const resp::value> command)
{
    words all;
    for (const resp::value& v : command.subspan(1))
        all.emplace_back(v.text);
    return all;
}

// Describes a reply in words, so that replies can be compared.
inline void describe(std::string& out, std::span<const resp::value> reply)
{
    for (const resp::value& v : reply) {
        out += static_cast<char>('a' + static_cast<int>(v.kind));
        if (v.kind >= resp::value_kind::array)
            out += std::to_string(v.count);
        else if (v.kind == resp::value_kind::integer || v.kind == resp::value_kind::boolean)
            out += std::to_string(v.integer);
        else
            out += "'" + std::string(v.text) + "'";
        out += ' ';
    }
}

} // namespace holdfast::fuzz
