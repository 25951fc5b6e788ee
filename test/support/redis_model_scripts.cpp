// The commands for scripts of the model of a Redis server, and the execution of the scripts.
#include "support/redis_model_call.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/scripts.hpp"

#include <algorithm>

namespace holdfast::test {

namespace {

using resp_text::null_argument;
constexpr std::string_view unknown_script =
    "ERR the model of a server does not support this script";

} // namespace

// `call::run` executes it. The last script is that of the Redis manual, which other libraries use
// for their locks: it fails where ours replies "not ours".
struct redis_model::known_script {
    std::string_view text, digest;
    enum {
        releases,
        renews,
        passes_on,
        enqueues,
        joins,
        acquires_fenced,
        raises,
        renews_fenced,
        tells_owner,
        releases_by_manual
    } what;

    static const known_script all[script_count];
    static const known_script* with_text(std::string_view text);
    static const known_script* with_digest(std::string_view digest);
    std::size_t index() const { return static_cast<std::size_t>(this - all); }
};

const redis_model::known_script redis_model::known_script::all[] = {
    {redis::release_script.text, redis::release_script.digest, releases},
    {redis::renew_script.text, redis::renew_script.digest, renews},
    {redis::pass_on_script.text, redis::pass_on_script.digest, passes_on},
    {redis::enqueue_script.text, redis::enqueue_script.digest, enqueues},
    {redis::fenced_acquire_script.text, redis::fenced_acquire_script.digest, acquires_fenced},
    {redis::write_back_script.text, redis::write_back_script.digest, raises},
    {redis::fenced_renew_script.text, redis::fenced_renew_script.digest, renews_fenced},
    {redis::join_script.text, redis::join_script.digest, joins},
    {redis::owner_script.text, redis::owner_script.digest, tells_owner},
    {"if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n"
     "    return redis.call(\"del\",KEYS[1])\n"
     "else\n"
     "    return 0\n"
     "end",
        "647c65a442733a1aa440f99908d249d13b4d6c4a", releases_by_manual},
};

const redis_model::known_script* redis_model::known_script::with_text(std::string_view text)
{
    const auto found =
        std::find_if(std::begin(all), std::end(all), [&](const auto& s) { return s.text == text; });
    return found == std::end(all) ? nullptr : found;
}

const redis_model::known_script* redis_model::known_script::with_digest(std::string_view digest)
{
    const auto found = std::find_if(
        std::begin(all), std::end(all), [&](const auto& s) { return same(digest, s.digest); });
    return found == std::end(all) ? nullptr : found;
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
    const known_script* const s = known_script::with_text(argv[1]);
    if (s == nullptr)
        return error(unknown_script);
    server.scripts_[s->index()] = true;
    run(*s, *count);
}

void redis_model::call::evalsha()
{
    constexpr std::string_view no_script = "NOSCRIPT No matching script. Please use EVAL.";
    if (argv[1].size() != redis::release_script.digest.size())
        return error(no_script);
    const auto count = key_count();
    if (!count)
        return;
    const known_script* const s = known_script::with_digest(argv[1]);
    if (s == nullptr || !server.scripts_[s->index()])
        return error(no_script);
    run(*s, *count);
}

void redis_model::call::run(const known_script& s, std::size_t count)
{
    const arguments names = argv.subspan(3, count), values = argv.subspan(3 + count);
    switch (s.what) {
    case known_script::renews:
        return renew(s, names, values);
    case known_script::passes_on:
        return pass_on(s, names, values);
    case known_script::joins:
        return only_join(s, names, values);
    case known_script::enqueues:
        return enqueue(s, names, values);
    case known_script::tells_owner:
        return show_owner(names);
    case known_script::acquires_fenced:
        return run_fenced(s, names, values, fenced_script::acquire);
    case known_script::raises:
        return run_fenced(s, names, values, fenced_script::raise);
    case known_script::renews_fenced:
        return run_fenced(s, names, values, fenced_script::renew);
    case known_script::releases:
    case known_script::releases_by_manual:
        return release(s, names, values);
    }
}

void redis_model::call::script_error(const known_script& s, std::string_view text, unsigned line)
{
    std::string all(text);
    all.append(" script: ").append(s.digest).append(", on @user_script:");
    append(all, line);
    error(all += '.');
}

void redis_model::call::release(const known_script& s, arguments names, arguments values)
{
    const bool fails = s.what == known_script::releases_by_manual;
    if (names.empty())
        return fails ? script_error(s, null_argument) : error(null_argument);
    const auto found = look_up(names[0]);
    watch(names);
    if (found == none())
        return integer(0);
    if (found->second.is != item::kind::string)
        return fails ? script_error(s, resp_text::wrong_type) : integer(0);
    if (values.empty() || found->second.value != values[0])
        return integer(0);
    if (const std::string_view why = refused_write(); !why.empty())
        return script_error(s, why, fails ? 2 : 1);
    remove(found);
    integer(1);
}

void redis_model::call::show_owner(arguments names)
{
    constexpr std::size_t token_length = 32;
    if (names.empty())
        return error(null_argument);
    const auto found = look_up(names[0]);
    watch(names);
    if (found == none())
        null();
    else if (found->second.is != item::kind::string)
        error(resp_text::wrong_type);
    else
        bulk(std::string_view(found->second.value).substr(0, token_length));
}

void redis_model::call::renew(const known_script& s, arguments names, arguments values)
{
    const std::size_t start = out.size();
    const auto fail = [&](std::string_view why) {
        out.resize(start);
        script_error(s, why);
    };
    array(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto found = look_up(names[i]);
        watch(names);
        if (found == none() || found->second.is != item::kind::string || values.size() <= 2 * i ||
            found->second.value != values[2 * i]) {
            integer(0);
            continue;
        }
        if (values.size() == 2 * i + 1)
            return fail(null_argument);
        if (const std::string_view why = refused_write(); !why.empty())
            return fail(why);
        const ending e = end_of_expire(values[2 * i + 1], false);
        if (!e.at)
            return fail(e.error);
        end_at(found, *e.at);
        integer(1);
    }
}

void redis_model::call::script_load()
{
    const known_script* const s = known_script::with_text(argv[2]);
    if (s == nullptr)
        return error(unknown_script);
    server.scripts_[s->index()] = true;
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
    for (const std::string_view digest : argv.subspan(2)) {
        const known_script* const s = known_script::with_digest(digest);
        integer(s != nullptr && server.scripts_[s->index()] ? 1 : 0);
    }
}

} // namespace holdfast::test
