// The commands of the model of a Redis server, when it refuses them, and the encoding of replies.
#include "support/redis_model_call.hpp"

#include <charconv>
#include <cstdio>

namespace holdfast::test {

namespace {

enum flag : std::uint16_t {
    writes = 1,
    takes_memory = 2, // refused when no memory is left
    while_loading = 4,
    while_busy = 8,
    before_auth = 16,
    is_ping = 32,
    reads = 64, // the key that is its first argument
    reads_all = 128,
    while_listening = 256, // in the old protocol
    not_in_scripts = 512
};

constexpr char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// The names of all commands here have up to 12 letters, of 5 bits each. 0 for any other name.
constexpr std::uint64_t packed(std::string_view name)
{
    std::uint64_t all = 0;
    if (name.size() > 12)
        return 0;
    for (const char each : name) {
        const char c = lower(each);
        if (c < 'a' || c > 'z')
            return 0;
        all = all << 5 | static_cast<std::uint64_t>(c - 'a' + 1);
    }
    return all;
}

std::string quoted(std::string_view text, std::size_t most)
{
    const std::string_view until_null = text.substr(0, text.find('\0'));
    return "'" + std::string(until_null.substr(0, most)) + "'";
}

constexpr std::string_view busy_text =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
constexpr std::string_view snapshots_fail =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). Please check the Redis logs for details about the RDB error.";

} // namespace

struct redis_model::call::command {
    std::uint64_t name;
    std::string_view full_name;
    int arity; // with the name; negative: at least that many
    int flags;
    void (call::*run)(); // null: one of `parts`, by the second argument
    std::span<const command> parts{};

    static const command* find(std::span<const command> all, std::string_view name);
    static const command* find(arguments argv);
    std::string refusal(const call& c) const;
    std::string_view refused_by_state(const call& c) const;
    bool takes(std::size_t words) const
    {
        const auto count = static_cast<int>(words);
        return arity >= 0 ? count == arity : count >= -arity;
    }
    bool keeps_caching() const { return full_name.starts_with("client|"); }

    static const command client[], script[], all[];
    static const command of_model[]; // no server has them
};

const redis_model::call::command redis_model::call::command::client[] = {
    {packed("caching"), "client|caching", 3, while_loading | not_in_scripts, &call::client_caching},
    {packed("tracking"), "client|tracking", -3, while_loading | not_in_scripts,
        &call::client_tracking},
    {packed("setname"), "client|setname", 3, while_loading | not_in_scripts, &call::client_setname},
    {packed("getname"), "client|getname", 2, while_loading | not_in_scripts, &call::client_getname},
    {packed("id"), "client|id", 2, while_loading | not_in_scripts, &call::client_id},
};

const redis_model::call::command redis_model::call::command::script[] = {
    {packed("load"), "script|load", 3, not_in_scripts, &call::script_load},
    {packed("flush"), "script|flush", -2, not_in_scripts, &call::script_flush},
    {packed("exists"), "script|exists", -3, not_in_scripts, &call::script_exists},
};

// The most frequent first.
const redis_model::call::command redis_model::call::command::all[] = {
    {packed("set"), "set", -3, writes | takes_memory, &call::set},
    {packed("evalsha"), "evalsha", -3, not_in_scripts, &call::evalsha},
    {packed("type"), "type", 2, reads, &call::type},
    {packed("pttl"), "pttl", 2, reads, &call::pttl},
    {packed("get"), "get", 2, reads, &call::get},
    {packed("eval"), "eval", -3, not_in_scripts, &call::eval},
    {packed("ping"), "ping", -1, is_ping | while_listening, &call::ping},
    {packed("del"), "del", -2, writes, &call::del},
    {packed("pexpire"), "pexpire", -3, writes, &call::pexpire},
    {packed("hello"), "hello", -1, while_loading | while_busy | before_auth | not_in_scripts,
        &call::hello},
    {packed("auth"), "auth", -2, while_loading | while_busy | before_auth | not_in_scripts,
        &call::auth},
    {packed("select"), "select", 2, while_loading, &call::select},
    {packed("client"), "client", -2, 0, nullptr, client},
    {packed("script"), "script", -2, 0, nullptr, script},
    {packed("info"), "info", -1, while_loading, &call::info},
    {packed("role"), "role", 1, while_loading | not_in_scripts, &call::role},
    {packed("setnx"), "setnx", 3, writes | takes_memory, &call::setnx},
    {packed("getset"), "getset", 3, writes | takes_memory, &call::getset},
    {packed("exists"), "exists", -2, reads_all, &call::exists},
    {packed("mget"), "mget", -2, reads_all, &call::mget},
    {packed("expire"), "expire", -3, writes, &call::expire},
    {packed("ttl"), "ttl", 2, reads, &call::ttl},
    {packed("time"), "time", 1, while_loading, &call::time_now},
    {packed("lpush"), "lpush", -3, writes | takes_memory, &call::lpush},
    {packed("flushall"), "flushall", -1, writes, &call::flushall},
    {packed("zadd"), "zadd", -4, writes | takes_memory, &call::zadd},
    {packed("zrem"), "zrem", -3, writes, &call::zrem},
    {packed("zpopmin"), "zpopmin", -2, writes, &call::zpopmin},
    {packed("zrange"), "zrange", -4, reads, &call::zrange},
    {packed("zcard"), "zcard", 2, reads, &call::zcard},
    {packed("zscore"), "zscore", 3, reads, &call::zscore},
    {packed("publish"), "publish", 3, while_loading, &call::publish},
    {packed("subscribe"), "subscribe", -2, while_loading | while_listening | not_in_scripts,
        &call::subscribe},
    {packed("unsubscribe"), "unsubscribe", -1, while_loading | while_listening | not_in_scripts,
        &call::unsubscribe},
    {packed("quit"), "quit", -1,
        while_loading | while_busy | before_auth | not_in_scripts | while_listening, &call::quit},
};

const redis_model::call::command redis_model::call::command::of_model[] = {
    {packed("zaddnumbers"), "zaddnumbers", 4, writes | takes_memory, &call::zadd_numbers},
};

const redis_model::call::command* redis_model::call::command::find(
    std::span<const command> among, std::string_view name)
{
    const std::uint64_t wanted = packed(name);
    for (const command& each : among) {
        if (each.name == wanted)
            return &each;
    }
    return nullptr;
}

const redis_model::call::command* redis_model::call::command::find(arguments argv)
{
    const command* const found = find(all, argv[0]);
    return found != nullptr && !found->parts.empty() && argv.size() > 1
               ? find(found->parts, argv[1])
               : found;
}

// The error if the command is refused before its arguments are checked, else empty.
std::string redis_model::call::command::refusal(const call& c) const
{
    if (!takes(c.argv.size()))
        return "ERR wrong number of arguments for '" + std::string(full_name) + "' command";
    if (!(flags & before_auth) && !c.authenticated())
        return "NOAUTH Authentication required.";
    const std::string_view why = refused_by_state(c);
    const trouble server_state = c.server.state;
    const bool checked_later = server_state == trouble::loading || server_state == trouble::busy;
    if ((why.empty() || checked_later) && !(flags & while_listening) && c.only_listens())
        return "ERR Can't execute '" + std::string(full_name) +
               "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
               "this context";
    return std::string(why);
}

std::string_view redis_model::call::command::refused_by_state(const call& c) const
{
    switch (c.server.state) {
    case trouble::none:
        break;
    case trouble::loading:
        return flags & while_loading ? "" : "LOADING Redis is loading the dataset in memory";
    case trouble::busy:
        return flags & while_busy ? "" : busy_text;
    case trouble::out_of_memory:
        return flags & takes_memory ? resp_text::out_of_memory : "";
    case trouble::misconfigured:
        return flags & (writes | is_ping) ? c.refused_write() : "";
    case trouble::no_replicas:
    case trouble::read_only:
        return flags & writes ? c.refused_write() : "";
    }
    return {};
}

std::string_view redis_model::call::refused_write() const
{
    switch (server.state) {
    case trouble::misconfigured:
        return snapshots_fail;
    case trouble::no_replicas:
        return "NOREPLICAS Not enough good replicas to write.";
    case trouble::read_only:
        return "READONLY You can't write against a read only replica.";
    default:
        return {};
    }
}

void redis_model::call::execute()
{
    const command* const found = command::find(argv);
    if (const auto instead = server.before ? server.before(argv) : std::nullopt) {
        out += *instead;
    } else if (found == nullptr) {
        unknown();
    } else if (const std::string why = found->refusal(*this); !why.empty()) {
        error(why);
    } else {
        (this->*found->run)();
        if (found->flags & (reads | reads_all))
            watch(found->flags & reads ? argv.subspan(1, 1) : argv.subspan(1));
    }
    if (found == nullptr || !found->keeps_caching())
        from.caching = false;
}

void redis_model::call::execute_in_script(call& caller, arguments script_keys)
{
    const command* found = command::find(argv);
    if (found == nullptr)
        found = command::find(command::of_model, argv[0]);
    if (found == nullptr)
        return error("ERR Unknown Redis command called from script");
    if (!found->takes(argv.size()))
        return error("ERR Wrong number of args calling Redis command from script");
    if (found->flags & not_in_scripts)
        return error("ERR This Redis command is not allowed from script");
    if (found->flags & writes) {
        const bool takes = (found->flags & takes_memory) != 0;
        if (const std::string_view why = caller.refused_in_script(takes); !why.empty())
            return error(why);
    }
    (this->*found->run)();
    if (found->flags & (reads | reads_all))
        caller.watch(script_keys);
}

void redis_model::call::unknown()
{
    constexpr std::size_t most = 128;
    if (const command* const whole = command::find(command::all, argv[0])) {
        std::string name(whole->full_name);
        for (char& c : name)
            c = static_cast<char>(c - ('a' - 'A'));
        return error(
            "ERR unknown subcommand " + quoted(argv[1], most) + ". Try " + name + " HELP.");
    }
    std::string listed;
    for (std::size_t i = 1; i < argv.size() && listed.size() < most; ++i)
        listed += quoted(argv[i], most - listed.size()) + " ";
    error("ERR unknown command " + quoted(argv[0], most) + ", with args beginning with: " + listed);
}

void redis_model::call::simple(std::string_view text)
{
    out += '+';
    out += text;
    out += "\r\n";
}

// The text may come from a client: line breaks are replaced.
void redis_model::call::error(std::string_view text)
{
    while (text.ends_with('\r') || text.ends_with('\n'))
        text.remove_suffix(1);
    out += '-';
    for (const char c : text)
        out += c == '\r' || c == '\n' ? ' ' : c;
    out += "\r\n";
}

void redis_model::call::integer(std::int64_t n)
{
    out += ':';
    append(out, n);
    out += "\r\n";
}

void redis_model::call::bulk(std::string_view text)
{
    out += '$';
    append(out, static_cast<std::int64_t>(text.size()));
    out += "\r\n";
    out += text;
    out += "\r\n";
}

// For text that people read.
void redis_model::call::verbatim(std::string_view text)
{
    if (from.protocol == 2)
        return bulk(text);
    out += '=';
    append(out, static_cast<std::int64_t>(text.size() + 4));
    out += "\r\ntxt:";
    out += text;
    out += "\r\n";
}

void redis_model::call::null()
{
    out += from.protocol == 2 ? "$-1\r\n" : "_\r\n";
}

void redis_model::call::array(std::size_t count)
{
    out += '*';
    append(out, static_cast<std::int64_t>(count));
    out += "\r\n";
}

void redis_model::call::map(std::size_t pairs)
{
    if (from.protocol == 2)
        return array(2 * pairs);
    out += '%';
    append(out, static_cast<std::int64_t>(pairs));
    out += "\r\n";
}

void redis_model::call::push(std::size_t count)
{
    out += from.protocol == 2 ? '*' : '>';
    append(out, static_cast<std::int64_t>(count));
    out += "\r\n";
}

void redis_model::call::number(double n)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", n);
    if (from.protocol == 2)
        return bulk(text);
    out += ',';
    out += text;
    out += "\r\n";
}

std::optional<std::int64_t> integer_of(std::string_view text)
{
    std::int64_t n = 0;
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    if (digits.empty() || digits[0] < '0' || digits[0] > '9' || (digits[0] == '0' && text != "0"))
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return n;
}

bool same(std::string_view text, std::string_view in_lower)
{
    if (text.size() != in_lower.size())
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (lower(text[i]) != in_lower[i])
            return false;
    }
    return true;
}

void append(std::string& out, std::int64_t n)
{
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

} // namespace holdfast::test
