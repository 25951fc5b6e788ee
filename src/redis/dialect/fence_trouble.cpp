#include "redis/dialect/fence_trouble.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string>

namespace holdfast::redis {

namespace {

std::string seconds(std::int64_t ms)
{
    return std::to_string((ms + 999) / 1000) + " s";
}

struct agreed_settings {
    std::int64_t quarantine = 0, ahead = 0; // ms
    std::int64_t registers = 0;
};

std::string in_words(const agreed_settings& s)
{
    return "quarantine " + std::to_string(s.quarantine) + " ms, ahead " + std::to_string(s.ahead) +
           " ms";
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

errc meaning_of(fence_trouble trouble) noexcept
{
    switch (trouble) {
    case fence_trouble::quarantine:
    case fence_trouble::ahead:
    case fence_trouble::far_ahead:
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

failure failure_of(fence_trouble trouble, std::int64_t left, std::string_view key)
{
    const errc code = meaning_of(trouble);
    switch (trouble) {
    case fence_trouble::quarantine:
        return {code, "in quarantine for another " + seconds(left) +
                          ": it is new, or may have forgotten leases and ballots"};
    case fence_trouble::ahead:
    case fence_trouble::far_ahead:
        return {code, "a register in " + printable(key) +
                          " is too far ahead of the clocks of the nodes for another " +
                          seconds(left)};
    case fence_trouble::settings:
        return {code, "other clients have other settings of fencing"};
    case fence_trouble::conflict:
        return {code, "the key " + printable(key) + " holds data of another kind"};
    case fence_trouble::none:
        break;
    }
    return {};
}

failure disagreement(const fence_settings& ours, std::string_view record)
{
    std::string text = "other clients have other settings of fencing";
    const auto theirs = settings_in(record);
    if (theirs && theirs->registers != static_cast<std::int64_t>(registers))
        text += ": they are of another version, whose tokens do not fit ours";
    else if (theirs)
        text += ": " + in_words(*theirs);
    return {errc::misconfigured_node,
        text + "; ours are: " + in_words({in_ms(ours.quarantine), in_ms(ours.ahead)})};
}

} // namespace holdfast::redis
