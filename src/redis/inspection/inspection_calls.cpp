#include "redis/inspection/inspection_calls.hpp"

#include "core/owner_token.hpp"
#include "redis/dialect/common_calls.hpp"
#include "redis/dialect/fenced_calls.hpp"
#include "redis/inspection/scripts_of_inspection.hpp"
#include "redis/node/script_call.hpp"
#include "redis/quorum/rendezvous.hpp"

#include <holdfast/resource.hpp>

namespace holdfast::redis {

namespace {

constexpr std::size_t length_of_token = sizeof(core::owner_token::text);

// A pattern of SCAN that means this text.
void append_literally(std::string& pattern, std::string_view text)
{
    for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\')
            pattern += '\\';
        pattern += c;
    }
}

} // namespace

std::string_view inspection_calls::view(std::string_view resource)
{
    const std::string_view lock = names_.lock_of(resource);
    const resp::decimal last(most_waiters - 1), longest(longest_value);
    const std::string_view queue = names_.queue_of(lock);
    command_.clear();
    if (!settings_.fenced) {
        resp::append_command(
            command_, {"EVAL", view_script, "2", lock, queue, last.view(), longest.view()});
        return command_;
    }
    const std::string registers = fenced_calls::registers_of(settings_.key_prefix);
    const resp::decimal its_own(
        static_cast<std::int64_t>(fenced_calls::register_of(hash_of(lock))));
    resp::append_command(command_, {"EVAL", view_script, "3", lock, queue, registers, last.view(),
                                       longest.view(), its_own.view()});
    return command_;
}

std::string_view inspection_calls::scan(std::string_view prefix, std::string_view cursor)
{
    std::string pattern;
    const resp::decimal longest(
        static_cast<std::int64_t>(resource::max_size + lock_prefix().size()));
    const resp::decimal length(settings_.fenced ? 0 : length_of_token);
    append_literally(pattern, names_.lock_of({}));
    append_literally(pattern, prefix);
    pattern += '*';
    command_.clear();
    resp::append_command(
        command_, {"EVAL", scan_script, "0", cursor, pattern, length.view(), longest.view()});
    return command_;
}

std::string_view inspection_calls::clients(std::span<const std::uint32_t> ids)
{
    command_.clear();
    resp::append_array_header(command_, 3 + ids.size());
    resp::append_blob(command_, "EVAL");
    resp::append_blob(command_, clients_script);
    resp::append_blob(command_, static_cast<std::int64_t>(ids.size()));
    for (const std::uint32_t id : ids)
        resp::append_blob(command_, client_key(settings_, id));
    return command_;
}

std::string_view inspection_calls::tell(std::string_view channel, std::string_view token)
{
    const std::string message = std::string(token).append(taken_away);
    command_.clear();
    resp::append_command(command_, {"PUBLISH", channel, message});
    return command_;
}

std::string_view inspection_calls::take(
    std::string_view resource, std::string_view value, bool hands_off)
{
    const std::string_view lock = names_.lock_of(resource);
    const resp::decimal ttl(in_ms(hand_over_ttl));
    command_.clear();
    if (hands_off)
        resp::append_command(command_,
            {"EVAL", pass_on_script.text, "2", lock, names_.queue_of(lock), value, ttl.view(), ""});
    else
        resp::append_command(command_, {"EVAL", release_script.text, "1", lock, value});
    return command_;
}

} // namespace holdfast::redis
