#pragma once

#include "core/backoff.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace holdfast::core {

// Which member is tried, and when. After a failure, the next one at once; when all have failed,
// after a pause. Pauses grow, and are random. The failures before are forgotten when a member has
// worked for as long as the last pause was, and for the least pause at least.
class rotation {
public:
    struct pauses {
        duration least{}, longest{};
    };

    // Begins anywhere, so that clients use different members. Precondition: members > 0.
    rotation(std::size_t members, const pauses& between, std::uint64_t jitter_seed) noexcept;

    std::size_t current() const noexcept { return current_; }
    time_point next_at() const noexcept { return next_at_; }
    // Why all members have failed, one after the other; none if one works since.
    errc cut_off() const noexcept { return cut_off_; }

    // A call to the current member has succeeded.
    void worked() noexcept;
    // The current member has failed, and another one is current. True if all have failed now.
    bool failed(errc why, time_point now) noexcept;
    // No member is tried any more.
    void stop() noexcept { next_at_ = never; }

private:
    const std::size_t members_;
    const pauses pauses_;
    jitter jitter_;
    std::size_t current_ = 0;
    std::size_t failed_ = 0;     // in this round
    unsigned failed_rounds_ = 0; // in a row
    bool worked_ = false;        // a call has succeeded since the last failure
    time_point trusted_from_ = long_ago;
    errc cut_off_{};
    time_point next_at_ = long_ago;
};

inline rotation::rotation(
    std::size_t members, const pauses& between, std::uint64_t jitter_seed) noexcept
    : members_(members),
      pauses_(between),
      jitter_(jitter_seed)
{
    current_ = jitter_.next() % members_;
}

inline void rotation::worked() noexcept
{
    cut_off_ = errc{};
    worked_ = true;
}

inline bool rotation::failed(errc why, time_point now) noexcept
{
    const bool hopeless = make_error_code(why) == condition::misconfigured;
    // A member that has worked for a while is likely to work again soon.
    const bool hopeful = std::exchange(worked_, false) && !hopeless && now >= trusted_from_;
    if (hopeful) {
        failed_ = 0;
        failed_rounds_ = 0;
    }
    const bool round_over = ++failed_ >= members_ && !hopeful;
    current_ = (current_ + 1) % members_;
    next_at_ = now;
    if (hopeful && members_ == 1) {
        failed_ = 0;
        next_at_ += jitter_.between(duration(0), pauses_.least);
    } else if (round_over) {
        failed_ = 0;
        cut_off_ = why;
        next_at_ += hopeless ? pauses_.longest
                             : backoff(++failed_rounds_, pauses_.least, pauses_.longest, jitter_);
    }
    trusted_from_ = next_at_ + std::max(pauses_.least, next_at_ - now);
    return round_over;
}

} // namespace holdfast::core
