#include "redis/inspection/sighting.hpp"

#include "core/owner_token.hpp"
#include "redis/inspection/scripts_of_inspection.hpp"
#include "redis/quorum/ballot_round.hpp"
#include "redis/quorum/majority.hpp"
#include "resp/number.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace holdfast::redis {

using resp::value_kind;

namespace {

constexpr std::size_t head_of_view = 6; // the array, and the values before the queue
constexpr std::size_t head_of_scan = 3;
constexpr std::size_t length_of_mark = 8;
// Tokens have had a time in them since then; and clocks may differ by so much.
constexpr std::int64_t first_second = 1'704'067'200; // 2024-01-01
constexpr std::int64_t most_ahead = 86'400;

bool is_flat_list(reply answer, std::size_t at_least)
{
    return answer.front().kind == value_kind::array && answer.size() >= at_least &&
           answer.front().count == answer.size() - 1;
}

bool is_text(const resp::value& v)
{
    return v.kind == value_kind::blob_string || v.kind == value_kind::simple_string;
}

bool is_left(std::int64_t ms)
{
    return ms >= -2 && ms <= std::numeric_limits<std::int64_t>::max() / 1'000'000;
}

// "ttl value"
std::optional<key_copy> read_key(std::string_view text)
{
    const std::size_t middle = text.find(' ');
    std::int64_t left = 0;
    if (middle == text.npos || !resp::parse_integer(text.substr(0, middle), left) || !is_left(left))
        return std::nullopt;
    if (left == -2) // it has ended since
        return key_copy{};
    return key_copy{true, std::string(text.substr(middle + 1)), left};
}

// " <lag>" or " <lag> <fence>"
bool are_terms(std::string_view text) noexcept
{
    constexpr std::string_view digits = "0123456789";
    std::size_t words = 0;
    while (text.starts_with(' ')) {
        const std::size_t end = std::min(text.find_first_not_of(digits, 1), text.size());
        words += end > 1 ? 1u : 3u;
        text.remove_prefix(end);
    }
    return text.empty() && (words == 1 || words == 2);
}

} // namespace

error_code why_refused(std::string_view error_text) noexcept
{
    return make_error_code(
        refuses_command(error_text) ? errc::permission_denied : meaning_of(error_text));
}

std::string_view token_taken_away(reply push) noexcept
{
    if (push.size() != 4 || push[1].text != "message")
        return {};
    constexpr std::size_t length_of_token = sizeof(core::owner_token::text);
    const std::string_view message = push[3].text;
    if (message.size() != length_of_token + taken_away.size() || !message.ends_with(taken_away))
        return {};
    return message.substr(0, length_of_token);
}

std::optional<sighting> read_view(reply answer)
{
    sighting s;
    if (answer.front().kind == value_kind::error) {
        s.why = why_refused(answer.front().text);
        return s;
    }
    if (!is_flat_list(answer, head_of_view) || answer[1].kind != value_kind::integer ||
        answer[1].integer < 0 || answer[1].integer > 2 || !is_text(answer[2]) ||
        answer[3].kind != value_kind::integer || !is_left(answer[3].integer) ||
        !is_text(answer[4]) || answer[5].kind != value_kind::integer || answer[5].integer < 0)
        return std::nullopt;
    using kind = sighting::kind;
    s.is = answer[1].integer == 0   ? kind::absent
           : answer[1].integer == 1 ? kind::value
                                    : kind::conflict;
    if (s.is == kind::value && answer[3].integer == -2) // it has ended since
        s.is = kind::absent;
    if (s.is == kind::value)
        s.key = {true, std::string(answer[2].text), answer[3].integer};
    std::int64_t fence = 0;
    if (resp::parse_integer(answer[4].text, fence) && fence >= 0 && fence < (std::int64_t{1} << 46))
        s.fence = (static_cast<std::uint64_t>(fence) + 1) * tokens_in_ballot - 1;
    for (const resp::value& each : answer.subspan(head_of_view)) {
        if (!is_text(each))
            return std::nullopt;
        s.queue.emplace_back(each.text);
    }
    s.queue_length = std::max(s.queue.size(), static_cast<std::size_t>(answer[5].integer));
    return s;
}

std::optional<scan_step> read_scan(reply answer, std::size_t longest_name)
{
    scan_step step;
    if (answer.front().kind == value_kind::error) {
        step.why = why_refused(answer.front().text);
        return step;
    }
    const auto is_cursor = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    if (!is_flat_list(answer, head_of_scan) || !is_text(answer[1]) || !is_cursor(answer[1].text) ||
        answer[2].kind != value_kind::integer || (answer.size() - head_of_scan) % 2 != 0)
        return std::nullopt;
    step.cursor = answer[1].text;
    step.left_out = answer[2].integer != 0;
    for (std::size_t i = head_of_scan; i < answer.size(); i += 2) {
        if (!is_text(answer[i]) || answer[i].text.size() > longest_name || !is_text(answer[i + 1]))
            return std::nullopt;
        auto key = read_key(answer[i + 1].text);
        if (!key || key->value.size() > longest_listed_value)
            return std::nullopt;
        if (key->present)
            step.keys.emplace_back(std::string(answer[i].text), std::move(*key));
    }
    return step;
}

key_value split_value(std::string_view value) noexcept
{
    constexpr std::size_t length = sizeof(core::owner_token::text);
    const key_value whole{value, value};
    if (value.size() <= 2 * length || !are_terms(value.substr(2 * length)))
        return whole;
    const key_value parts{value.substr(0, length), value.substr(length, length)};
    const bool are_tokens =
        core::owner_token::stamp_of(parts.lease) && core::owner_token::stamp_of(parts.holder);
    return are_tokens ? parts : whole;
}

ownership judge(std::span<const key_copy* const> keys, std::span<const std::uint64_t> ranks)
{
    std::vector<key_value> values; // of nodes without the key: none
    for (const key_copy* const each : keys)
        values.push_back(each->present ? split_value(each->value) : key_value{});
    const auto is_of = [&](std::size_t i, std::string_view lease) {
        return keys[i]->present && values[i].lease == lease;
    };
    ownership found;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        std::size_t same = 0;
        for (std::size_t k = 0; k < keys.size(); ++k)
            same += is_of(k, values[i].lease) ? 1u : 0u;
        if (keys[i]->present && same > found.having) {
            found.lease = found.holder = values[i].lease;
            found.having = same;
        }
    }
    for (std::size_t i = 0; i < keys.size() && !found.named_at; ++i) {
        if (!is_of(i, found.lease) || values[i].holder == found.lease)
            continue;
        found.holder = values[i].holder;
        found.named_at = i;
    }
    std::uint64_t of_copies = 0, of_others = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!is_of(i, found.lease)) {
            of_others = std::max(of_others, ranks[i]);
        } else if (ranks[i] >= of_copies) {
            of_copies = ranks[i];
            found.namer = i;
        }
    }
    found.is_certain = found.named_at || of_copies >= of_others;
    found.namer = found.named_at.value_or(found.namer);
    found.held = found.having >= majority(keys.size());
    if (!found.held)
        return found;
    constexpr auto endless = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> left;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (is_of(i, found.lease))
            left.push_back(keys[i]->left_ms < 0 ? endless : keys[i]->left_ms);
    }
    const std::int64_t last = majority_value(std::span(left), keys.size());
    found.left_ms = last == endless ? -1 : last;
    return found;
}

lock_owner owner_of(std::string_view holder, std::int64_t wall)
{
    // Earlier versions and other clients use tokens of 32 hexadecimal digits.
    const bool hexadecimal = holder.find_first_not_of("0123456789abcdef") == holder.npos;
    const auto stamp = core::owner_token::stamp_of(holder);
    if (hexadecimal || !stamp || stamp->seconds < first_second ||
        stamp->seconds > wall + most_ahead) {
        lock_owner other;
        other.foreign = true;
        return other;
    }
    lock_owner owner;
    owner.id = stamp->client;
    owner.since = std::chrono::system_clock::time_point(std::chrono::seconds(stamp->seconds));
    owner.mark = holder.substr(0, length_of_mark);
    return owner;
}

void name(lock_owner& owner, const told_clients& clients, std::size_t nodes)
{
    const told_clients::record* const found = owner.foreign ? nullptr : clients.find(owner.id);
    if (found == nullptr)
        return;
    owner.client = found->details.info;
    owner.client_confirmed = found->nodes >= majority(nodes);
}

} // namespace holdfast::redis
