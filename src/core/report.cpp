#include "core/report.hpp"

namespace holdfast::core {

void report::acquired(std::uint64_t wait_tag, slot_id lease, std::optional<std::uint64_t> fence)
{
    ++counts_.acquired;
    effects_.push({.kind = effect_kind::acquired, .tag = wait_tag, .lease = lease, .fence = fence});
}

void report::wait_ended(std::uint64_t wait_tag, errc reason)
{
    effects_.push({.kind = effect_kind::wait_ended, .reason = reason, .tag = wait_tag});
}

void report::must_stop(slot_id lease)
{
    effects_.push({.kind = effect_kind::must_stop, .lease = lease});
}

void report::gone(slot_id lease)
{
    effects_.push({.kind = effect_kind::gone, .lease = lease});
}

void report::extended(slot_id lease, errc reason)
{
    effects_.push({.kind = effect_kind::extended, .reason = reason, .lease = lease});
}

void report::released(std::uint64_t release_tag, release_outcome outcome)
{
    effects_.push({.kind = effect_kind::released, .outcome = outcome, .tag = release_tag});
}

void report::drained()
{
    effects_.push({.kind = effect_kind::drained});
}

void report::closed()
{
    effects_.push({.kind = effect_kind::closed});
}

std::optional<effect> report::next_effect()
{
    if (effects_.empty())
        return std::nullopt;
    return effects_.pop();
}

} // namespace holdfast::core
