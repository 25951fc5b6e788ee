#include "support/redis_model_lua.hpp"

#include <lua.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace {

constexpr int handler = 1; // the place of on_error() on the stack
constexpr std::size_t longest_number = 32;

// With 17 significant digits, like Redis. Lua would write 14.
std::size_t write_number(char* to, double n)
{
    constexpr double exact = 1e15;
    if (std::abs(n) < exact && n == std::floor(n) && !(n == 0 && std::signbit(n))) {
        const auto end = std::to_chars(to, to + longest_number, static_cast<std::int64_t>(n)).ptr;
        return static_cast<std::size_t>(end - to);
    }
    return static_cast<std::size_t>(std::snprintf(to, longest_number, "%.17g", n));
}

// Without its fraction; like the processor if there is no such integer.
std::int64_t to_integer(double n)
{
    constexpr double end = 9223372036854775808.0;
    return n >= -end && n < end ? static_cast<std::int64_t>(n)
                                : std::numeric_limits<std::int64_t>::min();
}

void push(lua_State* lua, std::string_view text)
{
    lua_pushlstring(lua, text.data(), text.size());
}

std::string_view text_at(lua_State* lua, int index)
{
    std::size_t size = 0;
    const char* const text = lua_tolstring(lua, index, &size);
    return text == nullptr ? std::string_view() : std::string_view(text, size);
}

// Pushes the field of the table at the top.
int push_field(lua_State* lua, std::string_view name)
{
    push(lua, name);
    lua_rawget(lua, -2);
    return lua_type(lua, -1);
}

// {err=why}
void push_error(lua_State* lua, std::string_view why)
{
    lua_createtable(lua, 0, 1);
    push(lua, why);
    lua_setfield(lua, -2, "err");
}

// Pushes a reply in RESP2, as Lua gets it. Returns the end of the reply.
const char* push_reply(lua_State* lua, const char* reply)
{
    const char kind = *reply++;
    if (kind == '+' || kind == '-') {
        const char* const end = std::strchr(reply, '\r');
        lua_createtable(lua, 0, 1);
        push(lua, {reply, end});
        lua_setfield(lua, -2, kind == '+' ? "ok" : "err");
        return end + 2;
    }
    std::int64_t n = 0;
    const char* end = std::from_chars(reply, reply + longest_number, n).ptr + 2;
    if (kind == ':') {
        lua_pushnumber(lua, static_cast<lua_Number>(n));
    } else if (n < 0) {
        lua_pushboolean(lua, 0);
    } else if (kind == '$') {
        push(lua, {end, static_cast<std::size_t>(n)});
        end += n + 2;
    } else {
        lua_createtable(lua, static_cast<int>(n), 0);
        for (int i = 1; i <= n; ++i) {
            end = push_reply(lua, end);
            lua_rawseti(lua, -2, i);
        }
    }
    return end;
}

} // namespace

redis_model::interpreter& redis_model::interpreter::of_this_thread()
{
    thread_local interpreter one;
    return one;
}

redis_model::interpreter& redis_model::interpreter::of(lua_State* lua)
{
    return *static_cast<interpreter*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

redis_model::interpreter::interpreter() : state_(luaL_newstate(), lua_close)
{
    lua_State* const lua = state_.get();
    lua_pushlightuserdata(lua, this);
    lua_pushcclosure(lua, on_error, 1);
    open_libraries();
    set_global("KEYS", {});
    set_global("ARGV", {});
    // Other global variables do not exist.
    lua_createtable(lua, 0, 2);
    lua_pushcfunction(lua, on_unknown_global);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, on_new_global);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, LUA_GLOBALSINDEX);
    learn_known();
}

void redis_model::interpreter::open_libraries()
{
    lua_State* const lua = state_.get();
    for (const lua_CFunction open : {luaopen_base, luaopen_table, luaopen_string, luaopen_math}) {
        lua_pushcfunction(lua, open);
        lua_call(lua, 0, 0);
    }
    lua_createtable(lua, 0, 2);
    const std::pair<const char*, lua_CFunction> functions[] = {
        {"call", on_call}, {"pcall", on_pcall}};
    for (const auto& [name, function] : functions) {
        lua_pushlightuserdata(lua, this);
        lua_pushcclosure(lua, function, 1);
        lua_setfield(lua, -2, name);
    }
    lua_setglobal(lua, "redis");
}

const redis_model::script* redis_model::interpreter::with_text(std::string_view text) const
{
    const auto found = std::find_if(
        scripts_.begin(), scripts_.end(), [&](const script& s) { return s.text == text; });
    return found == scripts_.end() ? nullptr : &*found;
}

const redis_model::script* redis_model::interpreter::with_digest(std::string_view digest) const
{
    const auto found = std::find_if(
        scripts_.begin(), scripts_.end(), [&](const script& s) { return same(digest, s.digest); });
    return found == scripts_.end() ? nullptr : &*found;
}

void redis_model::interpreter::learn(
    std::string_view text, std::string_view digest, std::string_view shorter)
{
    if (with_text(text) != nullptr)
        return;
    const std::string_view run = shorter.empty() ? text : shorter;
    lua_State* const lua = state_.get();
    if (luaL_loadbuffer(lua, run.data(), run.size(), "@user_script") != 0) {
        const std::string why(text_at(lua, -1));
        lua_pop(lua, 1);
        throw std::invalid_argument("a script does not compile: " + why);
    }
    scripts_.push_back({std::string(text), std::string(digest), scripts_.size(),
        luaL_ref(lua, LUA_REGISTRYINDEX)});
}

// Both tables are new for each run: a script may change them.
void redis_model::interpreter::set_global(const char* name, arguments words)
{
    lua_State* const lua = state_.get();
    lua_createtable(lua, static_cast<int>(words.size()), 0);
    int at = 0;
    for (const std::string_view word : words) {
        push(lua, word);
        lua_rawseti(lua, -2, ++at);
    }
    lua_setglobal(lua, name);
}

void redis_model::interpreter::run(const script& s, call& caller, arguments keys, arguments values)
{
    lua_State* const lua = state_.get();
    caller_ = &caller;
    keys_ = keys;
    client_.id = caller.from.id;
    client_.database = caller.from.database;
    thrown_ = nullptr;
    set_global("KEYS", keys);
    set_global("ARGV", values);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, s.function);
    const bool failed = lua_pcall(lua, 0, 1, handler) != 0;
    if (!failed)
        answer(caller);
    else if (thrown_ == nullptr)
        answer_failure(s, caller);
    lua_settop(lua, handler);
    if (thrown_ != nullptr)
        std::rethrow_exception(std::exchange(thrown_, nullptr));
}

// The functions that Lua calls. A Lua error leaves them without destructors, so they have no
// objects that need one.

int redis_model::interpreter::on_call(lua_State* lua)
{
    return of(lua).perform(lua) ? 1 : lua_error(lua);
}

int redis_model::interpreter::on_pcall(lua_State* lua)
{
    interpreter& self = of(lua);
    self.perform(lua);
    return self.thrown_ == nullptr ? 1 : lua_error(lua);
}

// Finds the line of the script: it has failed itself, or a function that it called.
int redis_model::interpreter::on_error(lua_State* lua)
{
    lua_Debug where{};
    for (int level = 1; lua_getstack(lua, level, &where) != 0; ++level) {
        lua_getinfo(lua, "Sl", &where);
        if (*where.what != 'C')
            break;
    }
    of(lua).line_ = where.currentline;
    return 1;
}

int redis_model::interpreter::on_unknown_global(lua_State* lua)
{
    return luaL_error(
        lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

int redis_model::interpreter::on_new_global(lua_State* lua)
{
    return luaL_error(lua, "Attempt to modify a readonly table");
}

// Executes the command whose words are on the stack. Pushes the reply. Returns false if it is an
// error.
bool redis_model::interpreter::perform(lua_State* lua)
{
    if (!take_words(lua))
        return false;
    reply_.clear();
    try {
        call command{caller_->server, client_, words_, caller_->wall, reply_};
        command.execute_in_script(*caller_, keys_);
    } catch (...) { // it must not pass through frames of Lua
        thrown_ = std::current_exception();
        return false;
    }
    push_reply(lua, reply_.c_str());
    return reply_[0] != '-';
}

// Pushes an error if the words are no command.
bool redis_model::interpreter::take_words(lua_State* lua)
{
    const int count = lua_gettop(lua);
    if (count == 0) {
        push_error(lua, "ERR Please specify at least one argument for this redis lib call");
        return false;
    }
    words_.clear();
    digits_.resize(static_cast<std::size_t>(count) * longest_number);
    char* digits = digits_.data();
    for (int i = 1; i <= count; ++i) {
        const int type = lua_type(lua, i);
        if (type == LUA_TSTRING) {
            words_.push_back(text_at(lua, i));
        } else if (type == LUA_TNUMBER) {
            words_.emplace_back(digits, write_number(digits, lua_tonumber(lua, i)));
            digits += longest_number;
        } else {
            push_error(lua, "ERR Lua redis lib command arguments must be strings or integers");
            return false;
        }
    }
    return true;
}

// What the script returns becomes the reply to the caller. The value is at the top of the stack and
// is popped.
void redis_model::interpreter::answer(call& caller)
{
    lua_State* const lua = state_.get();
    if (lua_checkstack(lua, 4) == 0) {
        caller.error("ERR reached lua stack limit");
        return lua_pop(lua, 1);
    }
    switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
        caller.integer(to_integer(lua_tonumber(lua, -1)));
        break;
    case LUA_TSTRING:
        caller.bulk(text_at(lua, -1));
        break;
    case LUA_TBOOLEAN:
        lua_toboolean(lua, -1) != 0 ? caller.integer(1) : caller.null();
        break;
    case LUA_TTABLE:
        answer_table(caller);
        break;
    default:
        caller.null();
    }
    lua_pop(lua, 1);
}

// An error, a status, or an array up to the first nil.
void redis_model::interpreter::answer_table(call& caller)
{
    lua_State* const lua = state_.get();
    if (push_field(lua, "err") == LUA_TSTRING) {
        caller.error(text_at(lua, -1));
        return lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    if (push_field(lua, "ok") == LUA_TSTRING) {
        std::string text(text_at(lua, -1));
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
        caller.simple(text);
        return lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    int count = 0;
    for (int type = LUA_TNONE; type != LUA_TNIL; lua_pop(lua, 1)) {
        lua_rawgeti(lua, -1, count + 1);
        type = lua_type(lua, -1);
        count += type != LUA_TNIL ? 1 : 0;
    }
    caller.array(static_cast<std::size_t>(count));
    for (int i = 1; i <= count; ++i) {
        lua_rawgeti(lua, -1, i);
        answer(caller);
    }
}

// The error is at the top of the stack: that of a command, or of Lua.
void redis_model::interpreter::answer_failure(const script& s, call& caller)
{
    lua_State* const lua = state_.get();
    std::string why("ERR ");
    if (lua_istable(lua, -1)) {
        push_field(lua, "err");
        why.clear();
    }
    why += lua_isstring(lua, -1) != 0 ? text_at(lua, -1) : luaL_typename(lua, -1);
    why.append(" script: ").append(s.digest).append(", on @user_script:");
    append(why, line_);
    caller.error(why += '.');
}

} // namespace holdfast::test
