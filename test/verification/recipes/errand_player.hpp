#pragma once

#include "recipes/errand.hpp"
#include "verification/recipes/lock_service.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace holdfast::recipe_simulation {

// Performs an errand in a process, with the locks of the modelled service.
class errand_player final : public recipes::lease_view,
                            public std::enable_shared_from_this<errand_player> {
public:
    using names = std::function<std::string(std::size_t)>;
    // The lease is empty with an error, or if a try has found no free lock. If the errand has
    // succeeded with all locks, it is that of the first, and lease_of() tells the others.
    using result = std::function<void(error_code, lease_pointer)>;

    errand_player(
        lock_service& locks, process& p, std::shared_ptr<recipes::errand> work, names name_of)
        : locks_(locks),
          process_(p),
          errand_(std::move(work)),
          name_of_(std::move(name_of))
    {}

    void begin(result done)
    {
        done_ = std::move(done);
        report([this](recipes::steps& out) { errand_->begin(process_.now(), out); });
    }

    void cancel()
    {
        if (done_)
            finish({}, nullptr, nullptr);
    }

    bool held(std::size_t lock) const override
    {
        const auto found = leases_.find(lock);
        return found != leases_.end() && found->second->held();
    }

    // Valid while the result is delivered, too.
    lease_pointer lease_of(std::size_t lock) const
    {
        const auto found = leases_.find(lock);
        return found == leases_.end() ? nullptr : found->second;
    }

private:
    template <class Report>
    void report(Report make)
    {
        recipes::steps wanted;
        make(wanted);
        for (const recipes::step& each : wanted)
            perform(each);
    }

    void perform(const recipes::step& s)
    {
        using kind = recipes::step::kind;
        if (!done_)
            return;
        switch (s.what) {
        case kind::try_lock:
        case kind::wait_lock:
            ask(s);
            break;
        case kind::drop:
            drop(s.lock);
            break;
        case kind::wake:
            wake(s.until);
            break;
        case kind::succeed:
            finish({}, lease_of(s.lock), std::exchange(done_, nullptr));
            break;
        case kind::succeed_with_all:
            keeps_all_ = true;
            finish({}, lease_of(0), std::exchange(done_, nullptr));
            break;
        case kind::give_up:
            finish(s.why, nullptr, std::exchange(done_, nullptr));
            break;
        }
    }

    void ask(const recipes::step& s)
    {
        const auto self = shared_from_this();
        const std::size_t lock = s.lock;
        const bool once = s.what == recipes::step::kind::try_lock;
        asked_[lock] = locks_.acquire(process_, name_of_(lock), once, s.until,
            [self, lock](
                error_code why, const lease_pointer& held) { self->answered(lock, why, held); });
    }

    void answered(std::size_t lock, error_code why, const lease_pointer& held)
    {
        asked_.erase(lock);
        if (held)
            leases_[lock] = held;
        report([&](recipes::steps& out) {
            if (held)
                errand_->granted(lock, process_.now(), *this, out);
            else
                errand_->refused(lock, why, process_.now(), out);
        });
    }

    void drop(std::size_t lock)
    {
        if (const auto found = asked_.find(lock); found != asked_.end()) {
            locks_.cancel(found->second);
            asked_.erase(found);
        }
        if (const auto found = leases_.find(lock); found != leases_.end()) {
            locks_.release(found->second);
            leases_.erase(found);
        }
    }

    void wake(time_point when)
    {
        const auto self = shared_from_this();
        process_.deliver_at(when, [self, mine = ++wakes_] {
            if (self->done_ && mine == self->wakes_)
                self->report(
                    [&](recipes::steps& out) { self->errand_->woken(self->process_.now(), out); });
        });
    }

    void finish(error_code why, const lease_pointer& kept, const result& told)
    {
        const auto self = shared_from_this();
        done_ = nullptr;
        errand_->end();
        if (told)
            told(why, kept);
        while (!asked_.empty())
            drop(asked_.begin()->first);
        for (const auto& [lock, held] : leases_) {
            if (held != kept && !keeps_all_)
                locks_.release(held);
        }
        leases_.clear();
    }

    lock_service& locks_;
    process& process_;
    const std::shared_ptr<recipes::errand> errand_;
    const names name_of_;
    result done_; // empty when it has ended
    std::map<std::size_t, lock_service::request_id> asked_;
    std::map<std::size_t, lease_pointer> leases_;
    std::uint64_t wakes_ = 0;
    bool keeps_all_ = false; // the leases are the result
};

} // namespace holdfast::recipe_simulation
