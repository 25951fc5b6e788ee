#include "redis/dialect/fence_answer.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace holdfast::redis {

namespace {

// A block ends below 2^53.
constexpr std::int64_t last_start = (std::int64_t{1} << 53) - std::int64_t{largest_block};

// An upper limit for all durations, in ms: ten years.
constexpr std::int64_t longest_left = std::int64_t{3650} * 24 * 3600 * 1000;

fence_answer failed(fence_trouble trouble, std::int64_t left, std::int64_t clock)
{
    return {.said = vote::failed, .trouble = trouble, .left = left, .clock = clock};
}

std::string seconds(std::int64_t ms)
{
    return std::to_string((ms + 999) / 1000) + " s";
}

struct agreed_settings {
    std::int64_t quarantine = 0, ahead = 0, counter_lifetime = 0; // ms
};

std::string in_words(const agreed_settings& s)
{
    return "quarantine " + std::to_string(s.quarantine) + " ms, ahead " + std::to_string(s.ahead) +
           " ms, counter_lifetime " + std::to_string(s.counter_lifetime) + " ms";
}

// The record of a node begins with them, each followed by a space.
std::optional<agreed_settings> settings_in(std::string_view record)
{
    std::array<std::int64_t, 3> all{};
    for (std::int64_t& each : all) {
        const char* const end = record.data() + record.size();
        const auto [stopped, error] = std::from_chars(record.data(), end, each);
        if (error != std::errc() || stopped == end || *stopped != ' ')
            return std::nullopt;
        record.remove_prefix(static_cast<std::size_t>(stopped - record.data()) + 1);
    }
    return agreed_settings{all[0], all[1], all[2]};
}

} // namespace

fence_answer read_fence_answer(reply answer) noexcept
{
    if (answer.front().kind == resp::value_kind::error)
        return failed(fence_trouble::none, 0, -1);
    const auto is_integer = [](const resp::value& v) {
        return v.kind == resp::value_kind::integer;
    };
    if (answer.front().kind != resp::value_kind::array || answer.size() != 4 ||
        !is_integer(answer[1]) || !is_integer(answer[2]) || !is_integer(answer[3]))
        return {};
    const std::int64_t status = answer[1].integer;
    const std::int64_t left = std::clamp<std::int64_t>(answer[2].integer, -1, longest_left);
    const std::int64_t clock = answer[3].integer;
    switch (status) {
    case fenced_status::held:
        return {.said = vote::refused, .left = left, .clock = clock};
    case fenced_status::quarantined:
        return failed(fence_trouble::quarantine, std::max<std::int64_t>(left, 0), clock);
    case fenced_status::bad_counter:
        return failed(fence_trouble::counter, 0, clock);
    case fenced_status::disagreed:
        return failed(fence_trouble::settings, 0, clock);
    case fenced_status::conflict:
        return failed(fence_trouble::conflict, 0, clock);
    case fenced_status::fast:
        return failed(fence_trouble::fast_clock, 0, clock);
    case fenced_status::ahead:
        return failed(fence_trouble::ahead, std::max<std::int64_t>(left, 1), clock);
    default:
        break;
    }
    if (status < 1 || status > last_start)
        return {};
    return {.said = vote::granted, .start = static_cast<std::uint64_t>(status), .clock = clock};
}

errc meaning_of(fence_trouble trouble) noexcept
{
    switch (trouble) {
    case fence_trouble::quarantine:
    case fence_trouble::counter:
    case fence_trouble::ahead:
    case fence_trouble::far_ahead:
    case fence_trouble::fast_clock:
    case fence_trouble::slow_clock:
        return errc::fencing_unavailable;
    case fence_trouble::settings:
        return errc::misconfigured_node;
    case fence_trouble::conflict:
        return errc::key_conflict;
    case fence_trouble::none:
        break;
    }
    return {};
}

failure failure_of(const fence_answer& answer, std::string_view lock, std::string_view counter,
    std::string_view record)
{
    const errc code = meaning_of(answer.trouble);
    switch (answer.trouble) {
    case fence_trouble::quarantine:
        return {code, "in quarantine for another " + seconds(answer.left) +
                          ": it is new, or may have forgotten leases and counters"};
    case fence_trouble::counter:
        return {code,
            "the counter " + printable(counter) + " is no number, or at the end of all tokens"};
    case fence_trouble::ahead:
    case fence_trouble::far_ahead:
        return {code, "the counter " + printable(counter) +
                          " is too far ahead of the node's clock for another " +
                          seconds(answer.left)};
    case fence_trouble::fast_clock:
        return {code, "its clock, or what it grants, is too far ahead of the clocks of most nodes"};
    case fence_trouble::slow_clock:
        return {
            code, "its clock is too far behind those of other nodes to store a token of theirs"};
    case fence_trouble::settings:
        return {code, "other clients have other settings of fencing"};
    case fence_trouble::conflict:
        return {code, "the key " + printable(lock) + " or " + std::string(record) +
                          " holds data of another kind"};
    case fence_trouble::none:
        break;
    }
    return {};
}

failure disagreement(const fence_settings& ours, std::string_view record)
{
    const std::string want =
        in_words({in_ms(ours.quarantine), in_ms(ours.ahead), in_ms(ours.counter_lifetime)});
    const auto theirs = settings_in(record);
    return {errc::misconfigured_node, "other clients have other settings of fencing" +
                                          (theirs ? ": " + in_words(*theirs) : std::string()) +
                                          "; ours are: " + want};
}

} // namespace holdfast::redis
