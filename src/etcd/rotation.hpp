#pragma once

#include "core/backoff.hpp"
#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>

namespace holdfast::etcd_store {

// Which member is tried, and when. After a failure, the next one at once; when all have failed,
// after a pause. Pauses grow, and are random.
class rotation {
public:
    struct pauses {
        core::duration least{}, longest{};
    };

    // Begins anywhere, so that clients use different members. Precondition: members > 0.
    rotation(std::size_t members, const pauses& between, std::uint64_t jitter_seed) noexcept;

    std::size_t current() const noexcept { return current_; }
    core::time_point next_at() const noexcept { return next_at_; }
    // Why all members have failed, one after the other; none if one has worked since.
    errc cut_off() const noexcept { return cut_off_; }

    // A call to the current member has succeeded.
    void worked() noexcept;
    // The current member has failed, and another one is current. True if all have failed now.
    bool failed(errc why, core::time_point now) noexcept;
    // No member is tried any more.
    void stop() noexcept { next_at_ = core::never; }

private:
    const std::size_t members_;
    const pauses pauses_;
    core::jitter jitter_;
    std::size_t current_ = 0;
    std::size_t failed_ = 0;     // in this round
    unsigned failed_rounds_ = 0; // in a row
    bool worked_ = false;        // a call has succeeded since the last failure
    errc cut_off_{};
    core::time_point next_at_ = core::long_ago;
};

} // namespace holdfast::etcd_store
