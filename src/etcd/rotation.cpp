#include "etcd/rotation.hpp"

#include <utility>

namespace holdfast::etcd_store {

rotation::rotation(std::size_t members, const pauses& between, std::uint64_t jitter_seed) noexcept
    : members_(members),
      pauses_(between),
      jitter_(jitter_seed)
{
    current_ = jitter_.next() % members_;
}

void rotation::worked() noexcept
{
    failed_ = 0;
    failed_rounds_ = 0;
    cut_off_ = errc{};
    worked_ = true;
}

bool rotation::failed(errc why, core::time_point now) noexcept
{
    const bool hopeless = make_error_code(why) == condition::misconfigured;
    // A member that has worked is likely to work again soon.
    const bool hopeful = std::exchange(worked_, false) && !hopeless;
    const bool round_over = ++failed_ >= members_ && !hopeful;
    current_ = (current_ + 1) % members_;
    next_at_ = now;
    if (hopeful && members_ == 1) {
        failed_ = 0;
        next_at_ += jitter_.between(core::duration(0), pauses_.least);
    } else if (round_over) {
        failed_ = 0;
        cut_off_ = why;
        next_at_ += hopeless
                        ? pauses_.longest
                        : core::backoff(++failed_rounds_, pauses_.least, pauses_.longest, jitter_);
    }
    return round_over;
}

} // namespace holdfast::etcd_store
