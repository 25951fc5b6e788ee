// The commands for scripts of the model of a Redis server.
#include "support/redis_model_call.hpp"
#include "support/redis_model_lua.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/scripts.hpp"

#include <stdexcept>
#include <string>

namespace holdfast::test {

namespace {

constexpr std::string_view unknown_script =
    "ERR the model of a server does not support this script";
constexpr std::size_t digest_length = 40;

// Half of the time of a simulation would go to the loop that makes the registers of a node.
std::string with_registers_at_once(std::string_view text)
{
    constexpr std::string_view loop =
        "for b=0,16383 do "
        "a[#a+1]=least a[#a+1]=b "
        "if #a==4096 then redis.call('zadd',f,'gt',unpack(a)) a={} end "
        "end ";
    std::string shorter(text);
    const auto at = shorter.find(loop);
    if (at == shorter.npos)
        throw std::logic_error("the script makes registers in another way");
    return shorter.replace(at, loop.size(), "redis.call('zaddnumbers',f,least,16384) ");
}

} // namespace

void redis_model::interpreter::learn_known()
{
    for (const redis::script& s :
        {redis::release_script, redis::renew_script, redis::pass_on_script, redis::enqueue_script,
            redis::join_script, redis::owner_script, redis::baton_script, redis::untrack_script})
        learn(s.text, s.digest);
    learn(redis::open_script.text, redis::open_script.digest,
        with_registers_at_once(redis::open_script.text));
    // From the Redis manual. Other libraries use it for their locks. It fails where our script
    // replies "not ours".
    learn("if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n"
          "    return redis.call(\"del\",KEYS[1])\n"
          "else\n"
          "    return 0\n"
          "end",
        "647c65a442733a1aa440f99908d249d13b4d6c4a");
}

void redis_model::learn_script(std::string_view text, std::string_view digest)
{
    interpreter::of_this_thread().learn(text, digest);
}

bool redis_model::has_script(std::string_view digest) const
{
    const script* const s = interpreter::of_this_thread().with_digest(digest);
    return s != nullptr && has_script(s->index);
}

bool redis_model::has_script(std::size_t index) const
{
    return index < scripts_.size() && scripts_[index];
}

void redis_model::keep_script(std::size_t index)
{
    if (scripts_.size() <= index)
        scripts_.resize(index + 1);
    scripts_[index] = true;
}

void redis_model::forget_scripts() noexcept
{
    scripts_.clear();
}

// The number of keys among the arguments; if it is invalid, the reply is an error.
std::optional<std::size_t> redis_model::call::key_count()
{
    const auto n = integer_of(argv[2]);
    if (!n)
        error(resp_text::no_integer);
    else if (*n > static_cast<std::int64_t>(argv.size() - 3))
        error("ERR Number of keys can't be greater than number of args");
    else if (*n < 0)
        error("ERR Number of keys can't be negative");
    else
        return static_cast<std::size_t>(*n);
    return std::nullopt;
}

void redis_model::call::eval()
{
    const auto count = key_count();
    if (!count)
        return;
    const script* const s = interpreter::of_this_thread().with_text(argv[1]);
    if (s == nullptr)
        return error(unknown_script);
    server.keep_script(s->index);
    run(*s, *count);
}

void redis_model::call::evalsha()
{
    constexpr std::string_view no_script = "NOSCRIPT No matching script. Please use EVAL.";
    if (argv[1].size() != digest_length)
        return error(no_script);
    const auto count = key_count();
    if (!count)
        return;
    const script* const s = interpreter::of_this_thread().with_digest(argv[1]);
    if (s == nullptr || !server.has_script(s->index))
        return error(no_script);
    run(*s, *count);
}

void redis_model::call::run(const script& s, std::size_t keys)
{
    interpreter::of_this_thread().run(s, *this, argv.subspan(3, keys), argv.subspan(3 + keys));
}

// Whether a command in a script is refused. Like the server: after a command that writes, nothing
// is refused.
std::string_view redis_model::call::refused_in_script(bool takes_memory)
{
    if (written)
        return {};
    if (const std::string_view why = refused_write(); !why.empty())
        return why;
    if (takes_memory && server.state == trouble::out_of_memory)
        return resp_text::out_of_memory;
    written = true;
    return {};
}

void redis_model::call::script_load()
{
    const script* const s = interpreter::of_this_thread().with_text(argv[2]);
    if (s == nullptr)
        return error(unknown_script);
    server.keep_script(s->index);
    bulk(s->digest);
}

void redis_model::call::script_flush()
{
    if (argv.size() > 3 || (argv.size() == 3 && !same(argv[2], "sync") && !same(argv[2], "async")))
        return error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    server.forget_scripts();
    simple("OK");
}

void redis_model::call::script_exists()
{
    array(argv.size() - 2);
    for (const std::string_view digest : argv.subspan(2))
        integer(server.has_script(digest) ? 1 : 0);
}

} // namespace holdfast::test
