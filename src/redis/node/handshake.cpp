#include "redis/node/handshake.hpp"

#include "redis/node/fence_scripts.hpp"
#include "resp/command.hpp"
#include "resp/number.hpp"

#include <holdfast/version.hpp>

#include <limits>
#include <string_view>

namespace holdfast::redis {

namespace {

using resp::value_kind;

bool is_error(reply answer)
{
    return answer.front().kind == value_kind::error;
}

// The value of `key` in a map whose keys and values are not nested; other values are skipped.
std::string_view find_in_map(reply answer, std::string_view key)
{
    for (std::size_t i = 1; i + 1 < answer.size(); ++i) {
        if (answer[i].text == key && answer[i + 1].count == 0)
            return answer[i + 1].text;
    }
    return {};
}

// The value of `key:` in the lines of INFO.
std::string_view find_in_info(std::string_view info, std::string_view key)
{
    std::size_t at = 0;
    while (at < info.size()) {
        const std::size_t end = std::min(info.find("\r\n", at), info.size());
        const std::string_view line = info.substr(at, end - at);
        if (line.starts_with(key) && line.substr(key.size()).starts_with(':'))
            return line.substr(key.size() + 1);
        at = end + 2;
    }
    return {};
}

} // namespace

void handshake::start(const node_settings& settings, credentials login, std::string& out)
{
    settings_ = &settings;
    login_ = std::move(login);
    server_ = {};
    why_ = {};
    first_ = 0;
    expected_.assign(1, step::hello);
    if (login_.password.empty()) {
        resp::append_command(out, {"HELLO", "3"});
    } else {
        const std::string_view user =
            login_.user.empty() ? std::string_view("default") : std::string_view(login_.user);
        resp::append_command(out, {"HELLO", "3", "AUTH", user, login_.password});
    }
}

// Sends all the remaining commands at once. A node that refuses one of them still answers the
// others.
void handshake::continue_from(step first, std::string& out)
{
    first_ = 0;
    expected_.clear();
    if (first == step::auth) { // the node has no HELLO: RESP2
        if (!login_.password.empty()) {
            if (login_.user.empty())
                resp::append_command(out, {"AUTH", login_.password});
            else
                resp::append_command(out, {"AUTH", login_.user, login_.password});
            expect(step::auth);
        }
        resp::append_command(out, {"ROLE"});
        expect(step::role);
    }
    if (settings_->database != 0) {
        resp::append_command(out, {"SELECT", std::to_string(settings_->database)});
        expect(step::select);
    }
    if (!settings_->client_name.empty()) {
        resp::append_command(out, {"CLIENT", "SETNAME", settings_->client_name});
        expect(step::name);
    }
    resp::append_command(out, {"CLIENT", "SETINFO", "LIB-NAME", "holdfast"});
    expect(step::library_name);
    resp::append_command(out, {"CLIENT", "SETINFO", "LIB-VER", HOLDFAST_VERSION_STRING});
    expect(step::library_version);
    // Sections only: the whole of INFO grows with the errors of clients. Two requests, because only
    // Redis 7.0 and later accept more than one section in one.
    resp::append_command(out, {"INFO", "server"});
    expect(step::server_info);
    resp::append_command(out, {"INFO", "memory"});
    expect(step::memory_info);
    load(release_script, step::release, out);
    load(renew_script, step::renew, out);
    if (settings_->fenced) {
        resp::append_command(out, {"TIME"});
        expect(step::time);
    }
    load(pass_on_script, step::pass_on, out);
    if (!settings_->unused_key.empty())
        try_commands(out);
    if (first != step::auth &&
        !settings_->channel.empty()) { // RESP3: no reply is mistaken for a push
        load(enqueue_script, step::enqueue, out);
        resp::append_command(out, {"CLIENT", "TRACKING", "ON", "OPTIN"});
        expect(step::tracking);
        resp::append_command(out, {"SUBSCRIBE", settings_->channel});
        expect(step::subscribe);
    }
}

void handshake::load(const script& s, step which, std::string& out)
{
    resp::append_command(out, {"SCRIPT", "LOAD", s.text});
    expect(which);
}

// The commands that a lease needs once it is granted: by then it would be too late to find that one
// is forbidden. SET is the first command of all, so its own answer is early enough. No client uses
// this key, so nothing is read or changed. Whether the node permits our real keys is only known
// when they are used.
void handshake::try_commands(std::string& out)
{
    const std::string_view key = settings_->unused_key;
    resp::append_command(out, {"GET", key});
    expect(step::try_get);
    resp::append_command(out, {"DEL", key});
    expect(step::try_del);
    resp::append_command(out, {"PEXPIRE", key, "1"});
    expect(step::try_pexpire);
    resp::append_command(out, {"EVALSHA", release_script.digest, "1", key, ""});
    expect(step::try_evalsha);
    resp::append_command(out, {"EVAL", release_script.text, "1", key, ""});
    expect(step::try_eval);
    if (!settings_->fenced)
        return;
    resp::append_command(out, {"ZADD", key, "XX", "GT", "CH", "1", "0"});
    expect(step::try_ballot);
    resp::append_command(out, {"ZSCORE", key, "0"});
    expect(step::try_largest);
}

handshake::outcome handshake::on_reply(reply answer, core::time_point now, std::string& out)
{
    if (first_ == expected_.size())
        return fail(errc::protocol_error, "a reply without a request");
    const step answered = expected_[first_++];
    outcome result = outcome::going_on;
    switch (answered) {
    case step::hello:
        server_.clock_asked = now; // with the rest of the commands
        return on_hello(answer, out);
    case step::role:
        result = on_role(answer);
        break;
    case step::server_info:
        result = on_server_info(answer);
        break;
    case step::memory_info:
        result = on_memory_info(answer);
        break;
    case step::release:
        result = on_script(answer, release_script.digest);
        break;
    case step::renew:
        result = on_script(answer, renew_script.digest);
        break;
    case step::pass_on:
        result = on_script(answer, pass_on_script.digest);
        break;
    case step::enqueue:
        result = on_script(answer, enqueue_script.digest);
        break;
    case step::time:
        result = on_time(answer);
        break;
    case step::try_get:
        result = on_try(answer, "GET");
        break;
    case step::try_del:
        result = on_try(answer, "DEL");
        break;
    case step::try_pexpire:
        result = on_try(answer, "PEXPIRE");
        break;
    case step::try_evalsha:
        result = on_try(answer, "EVALSHA");
        break;
    case step::try_eval:
        result = on_try(answer, "EVAL");
        break;
    case step::try_ballot:
        result = on_try_ballot(answer);
        break;
    case step::try_largest:
        result = on_try(answer, "ZSCORE");
        break;
    case step::tracking:
        server_.tracks = !is_error(answer);
        break;
    case step::subscribe: // a node that forbids it keeps no queue for us
        server_.keeps_queue = answer.size() > 1 && answer[1].text == "subscribe";
        break;
    case step::auth:
    case step::select:
        if (is_error(answer)) {
            auto [code, text] = without_secrets(answer.front().text);
            const bool old_wording = answered == step::auth && code == errc::node_error;
            result =
                fail(old_wording ? errc::authentication_failed : static_cast<errc>(code.value()),
                    std::move(text));
        }
        break;
    case step::name:
    case step::library_name:
    case step::library_version:
        break; // optional
    }
    if (result == outcome::going_on && first_ == expected_.size())
        return outcome::ready;
    return result;
}

handshake::outcome handshake::on_hello(reply answer, std::string& out)
{
    if (is_error(answer)) {
        const std::string_view text = answer.front().text;
        const bool without_hello =
            text.starts_with("NOPROTO") || text.starts_with("ERR unknown command");
        if (!without_hello)
            return fail(meaning_of(text), without_secrets(text).text);
        continue_from(step::auth, out);
        return outcome::going_on;
    }
    if (answer.front().kind != value_kind::map)
        return fail(errc::protocol_error, "the answer to HELLO is not a map");

    const std::string_view mode = find_in_map(answer, "mode");
    if (mode == "sentinel")
        return fail(errc::misconfigured_node, "the node is a sentinel");
    if (const auto result = refuse_mode(mode); result == outcome::failed)
        return result;
    if (const auto result = refuse_role(find_in_map(answer, "role")); result == outcome::failed)
        return result;
    continue_from(step::select, out);
    return outcome::going_on;
}

handshake::outcome handshake::refuse_mode(std::string_view mode)
{
    const bool member = mode == "cluster";
    if (member == settings_->in_cluster)
        return outcome::going_on;
    return fail(errc::misconfigured_node,
        member ? "the node is a member of a cluster" : "the node is no member of a cluster");
}

handshake::outcome handshake::refuse_role(std::string_view role)
{
    if (role == "master")
        return outcome::going_on;
    // Sentinels, or the cluster, will name another node soon.
    const errc code =
        settings_->sentinels || settings_->in_cluster ? errc::node_error : errc::misconfigured_node;
    if (role.empty())
        return fail(code, "the node does not say that it is a primary");
    return fail(code, "the node is a " + printable(role) + ", not a primary");
}

handshake::outcome handshake::on_role(reply answer)
{
    if (is_error(answer)) { // INFO has the same answer for a user without the right to ask
        const errc code = meaning_of(answer.front().text);
        if (code == errc::permission_denied)
            return outcome::going_on;
        return fail(code, without_secrets(answer.front().text).text);
    }
    if (answer.size() < 2)
        return fail(errc::protocol_error, "the answer to ROLE is not a list");
    return refuse_role(answer[1].text);
}

handshake::outcome handshake::on_server_info(reply answer)
{
    if (is_error(answer) && settings_->fenced) // it may have been restarted, and be empty
        return fail(meaning_of(answer.front().text),
            "fencing needs INFO: " + without_secrets(answer.front().text).text);
    if (is_error(answer)) // not allowed: one server listed twice goes unnoticed then
        return outcome::going_on;
    const std::string_view info = answer.front().text;
    if (const auto result = refuse_mode(find_in_info(info, "redis_mode"));
        result == outcome::failed)
        return result;
    const std::string& run_id = server_.run_id = find_in_info(info, "run_id");
    if (settings_->fenced && (run_id.empty() || run_id.find(' ') != run_id.npos))
        return fail(errc::fencing_unavailable,
            "the node does not report its run_id in INFO, so a restart would go unnoticed");
    return outcome::going_on;
}

// A lock is a key with a ttl: every eviction policy may evict locks.
handshake::outcome handshake::on_memory_info(reply answer)
{
    if (is_error(answer)) // not allowed
        return outcome::going_on;
    const std::string_view info = answer.front().text;
    const std::string_view policy = find_in_info(info, "maxmemory_policy");
    const std::string_view limit = find_in_info(info, "maxmemory");
    const bool evicts = !policy.empty() && policy != "noeviction" && !limit.empty() && limit != "0";
    if (evicts && !settings_->eviction_allowed)
        return fail(errc::misconfigured_node,
            "the node evicts keys when its memory is full (maxmemory-policy " + printable(policy) +
                ")");
    return outcome::going_on;
}

handshake::outcome handshake::on_time(reply answer)
{
    if (is_error(answer))
        return fail(meaning_of(answer.front().text),
            "fencing needs TIME: " + without_secrets(answer.front().text).text);
    std::int64_t seconds = 0, microseconds = 0;
    if (answer.size() != 3 || !resp::parse_integer(answer[1].text, seconds) ||
        !resp::parse_integer(answer[2].text, microseconds) || seconds < 0 ||
        seconds > std::numeric_limits<std::int64_t>::max() / 2'000'000)
        return fail(errc::protocol_error, "the answer to TIME is not a time");
    server_.clock_us = seconds * 1'000'000 + microseconds;
    return outcome::going_on;
}

handshake::outcome handshake::on_script(reply answer, std::string_view digest)
{
    if (is_error(answer)) {
        auto [code, text] = without_secrets(answer.front().text);
        return fail(static_cast<errc>(code.value()), std::move(text));
    }
    if (answer.front().text != digest)
        return fail(errc::protocol_error, "the node computed another digest of a script");
    return outcome::going_on;
}

// The error for a forbidden command names the command. The error for a forbidden key does not: then
// the command is allowed. Other errors are ignored here; they are reported later if they prevent a
// lease.
handshake::outcome handshake::on_try(reply answer, std::string_view command)
{
    const std::string_view text = is_error(answer) ? answer.front().text : std::string_view();
    const bool forbidden = meaning_of(text) == errc::permission_denied &&
                           text.find("permissions to run the '") != text.npos;
    const bool unknown = text.starts_with("ERR unknown command"); // or renamed
    if (!forbidden && !unknown)
        return outcome::going_on;
    return fail(errc::permission_denied,
        "a lease needs " + std::string(command) + ": " + without_secrets(text).text);
}

handshake::outcome handshake::on_try_ballot(reply answer)
{
    if (is_error(answer) && answer.front().text.starts_with("ERR syntax"))
        return fail(errc::misconfigured_node, "fencing needs ZADD with GT: Redis 6.2 or later");
    return on_try(answer, "ZADD");
}

failure handshake::without_secrets(std::string_view error_text) const
{
    return failure_of(error_text, login_.password);
}

handshake::outcome handshake::fail(errc code, std::string text)
{
    why_ = {code, std::move(text)};
    return outcome::failed;
}

} // namespace holdfast::redis
