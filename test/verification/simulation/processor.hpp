#pragma once

#include "verification/simulation/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

namespace holdfast::simulation {

// One thread. It runs one job at a time; jobs that come while it is busy wait in order. The effects
// of a job happen at its start; then the job keeps the thread busy for the time that it spends.
class processor {
public:
    explicit processor(schedule& time) noexcept : time_(time) {}
    processor(const processor&) = delete;
    processor& operator=(const processor&) = delete;

    template <class Job>
    void run(Job&& job)
    {
        if (idle())
            return carry_out(job);
        jobs_.push_back({time_.now(), std::forward<Job>(job)});
        plan_next();
    }

    // The current job takes this much longer.
    void spend(nanoseconds t) noexcept { free_at_ = std::max(free_at_, time_.now()) + t; }
    // When the current job is done, as far as is known.
    nanoseconds done_at() const noexcept { return std::max(free_at_, time_.now()); }

    // Stops the thread. Jobs wait until go_on().
    void stand_still() noexcept
    {
        if (!std::exchange(stands_still_, true))
            stopped_at_ = time_.now();
    }
    void go_on()
    {
        if (!std::exchange(stands_still_, false))
            return;
        free_at_ += free_at_ > stopped_at_ ? time_.now() - stopped_at_ : nanoseconds(0);
        for (waiting_job& j : jobs_)
            j.since = time_.now();
        plan_next();
    }
    // Discards all waiting jobs.
    void forget_all() noexcept
    {
        jobs_.clear();
        ++generation_;
        planned_ = stands_still_ = false;
        free_at_ = time_.now();
    }

    // The longest wait of a job, without the time during which the thread was stopped.
    nanoseconds longest_wait() const noexcept { return longest_wait_; }

private:
    struct waiting_job {
        nanoseconds since{};
        std::function<void()> job;
    };

    bool idle() const noexcept
    {
        return !working_ && !stands_still_ && jobs_.empty() && free_at_ <= time_.now();
    }

    template <class Job>
    void carry_out(Job&& job)
    {
        working_ = true;
        job();
        working_ = false;
        plan_next();
    }

    void plan_next()
    {
        if (working_ || planned_ || stands_still_ || jobs_.empty())
            return;
        planned_ = true;
        time_.at(free_at_, [this, of = generation_] {
            if (of != generation_)
                return;
            planned_ = false;
            take_next();
        });
    }

    void take_next()
    {
        if (!stands_still_ && !jobs_.empty() && free_at_ <= time_.now()) {
            const waiting_job next = std::move(jobs_.front());
            jobs_.pop_front();
            longest_wait_ = std::max(longest_wait_, time_.now() - next.since);
            carry_out(next.job);
        }
        plan_next();
    }

    schedule& time_;
    std::deque<waiting_job> jobs_;
    nanoseconds free_at_{0}, stopped_at_{0}, longest_wait_{0};
    std::uint64_t generation_ = 0;
    bool working_ = false, planned_ = false, stands_still_ = false;
};

} // namespace holdfast::simulation
