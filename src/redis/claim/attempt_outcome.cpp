#include "redis/claim/attempt_outcome.hpp"

namespace holdfast::redis {

using core::time_point;

attempt_outcome judge_attempt(const claim& c, time_point now)
{
    switch (c.round.votes().judge()) {
    case verdict::undecided:
        return {};
    case verdict::contended:
        return {.is = attempt_outcome::kind::refused, .reason = errc::contended};
    case verdict::unreachable:
        return why_unreachable(c);
    case verdict::acquired:
        break;
    }
    const time_point valid_until = c.keys.valid_until();
    if (valid_until > now + c.params.guard)
        return {.is = attempt_outcome::kind::granted, .valid_until = valid_until};
    if (c.round.votes().count(vote::pending) == 0)
        return {.is = attempt_outcome::kind::refused, .reason = errc::too_late};
    return {}; // later grants may make it longer: the queue node is asked first
}

// If so many nodes have a permanent fault that they alone prevent a majority, that fault is the
// reason. If they do so only together with nodes in temporary trouble (a quarantine, or clocks),
// the refusal is temporary. Only the answers to this attempt count, not those to others.
attempt_outcome why_unreachable(const claim& c) noexcept
{
    std::size_t hopeless = 0, passing = 0;
    errc reason = errc::unreachable;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        const vote v = c.round.votes().of(i);
        if (v == vote::granted || v == vote::refused)
            continue;
        if (c.round.does_not_count_for_now(i)) {
            ++passing;
            continue;
        }
        const errc why = c.keys.trouble_of(i);
        if (why != errc{} && make_error_code(why) == condition::misconfigured && hopeless++ == 0)
            reason = why;
    }
    if (hopeless >= blocking(c.keys.size()))
        return {.is = attempt_outcome::kind::refused, .reason = reason};
    if (hopeless + passing >= blocking(c.keys.size()))
        return {.is = attempt_outcome::kind::refused,
            .reason = errc::fencing_unavailable,
            .transient = true};
    return {.is = attempt_outcome::kind::refused, .reason = errc::unreachable};
}

} // namespace holdfast::redis
