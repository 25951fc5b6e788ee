#pragma once

#include "recipes/batch_line.hpp"
#include "verification/recipes/lock_service.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::recipe_simulation {

// A request of a batcher, as its caller and its body know it.
struct order {
    time_point since{}; // by the clock of its process
    bool began = false; // its batch
    bool answered = false;
    error_code told;
    std::size_t done = 0; // how often the body has done its work
};
using order_pointer = std::shared_ptr<order>;

// Judges one batcher by what its callers, its body and the lock service see. Its own account of who
// waits is a plain queue.
class batch_referee {
public:
    batch_referee(world& w, process& p, const recipes::batch_params& limits, duration wait)
        : world_(w),
          process_(p),
          limits_(limits),
          wait_(wait)
    {}

    void submitted(const order_pointer& o, errc refusal)
    {
        const errc expected = closed_                                ? errc::closed
                              : waiting_.size() < limits_.max_queued ? errc{}
                                                                     : errc::overloaded;
        expect(refusal == expected, "a request is refused, or taken, against the limit");
        o->since = process_.now();
        if (refusal == errc{})
            waiting_.push_back(o);
    }

    void cancelled(const order_pointer& o, bool detach, bool went)
    {
        expect(went == (!o->answered && (!o->began || detach)),
            "a cancellation has not the effect that its type promises");
        if (!went)
            return;
        answer(o, make_error_code(errc::closed)); // any error will do
    }

    void asks()
    {
        expect(!asking_ && !serving_, "the lock is asked for twice, or under a batch");
        asking_ = true;
        const bool full = waiting_.size() >= limits_.max_batch;
        expect(!waiting_.empty(), "the lock is asked for, but no request waits");
        expect(
            full || waiting_.empty() || process_.now() - waiting_.front()->since >= limits_.gather,
            "the lock is asked for before the first request has waited for others");
    }
    void asked_in_vain() { asking_ = false; }

    void begins(const std::vector<order_pointer>& batch)
    {
        asking_ = false;
        serving_ = true;
        expect(batch.size() == std::min(limits_.max_batch, waiting_.size()),
            "a batch is too large, or leaves requests that it has place for");
        for (const order_pointer& each : batch) {
            if (!each || each->answered) {
                world_.violation("a request is served although its call has ended");
                continue;
            }
            expect(!each->began, "a request is in two batches");
            expect(!waiting_.empty() && waiting_.front() == each,
                "a request is served before an earlier one");
            std::erase(waiting_, each);
            each->began = true;
        }
    }

    // `lost`: the lease was over, or its loss has stopped the body. `good`: there is a reply for
    // each request.
    void ends(const std::vector<order_pointer>& batch, bool lost, bool good)
    {
        serving_ = false;
        nobody_since_ = last_end_ = process_.now();
        for (const order_pointer& each : batch) {
            if (!each->answered) {
                world_.violation("a request is not told of the end of its batch");
            } else if (each->told == errc::closed) {
                continue; // the caller has left before
            } else if (lost) {
                expect(each->told == errc::lease_lost, "a request is not told of the lost lease");
            } else {
                expect(!each->told == good, "a caller is told something else than its body");
                expect(each->told || each->done == 1, "a request has its reply, but no effect");
            }
        }
    }

    void answer(const order_pointer& o, error_code why)
    {
        expect(!o->answered, "a request is answered twice");
        if (!o->began) {
            expect(bool(why), "a request has its reply without a batch");
            std::erase(waiting_, o);
            nobody_since_ = process_.now();
        }
        o->answered = true;
        o->told = why;
    }

    void closes() { closed_ = true; }
    void has_closed(bool lease_left)
    {
        expect(!asking_ && !serving_ && !lease_left && waiting_.empty(),
            "it says that it is closed, but it is not");
    }

    // Now and then, while the process runs: no request waits for longer than promised.
    void judge_waits()
    {
        const time_point now = process_.now();
        if (asking_ && waiting_.empty()) {
            if (now - nobody_since_ > slack && process_.has_run_for(2 * slack))
                world_.violation("the lock is asked for, but no request waits any more");
        }
        if (waiting_.empty() || serving_)
            return;
        const time_point since = std::max(waiting_.front()->since, last_end_);
        const duration length = now - since;
        if (!asking_ && length > limits_.gather + slack &&
            process_.has_run_for(limits_.gather + 2 * slack))
            world_.violation("a request waits for others for too long");
        const duration longest = limits_.gather + 2 * wait_ + slack;
        if (wait_ < 1h && length > longest && process_.has_run_for(longest + slack))
            world_.violation("a request waits for the lock for too long");
    }

    bool is_waited_for() const noexcept { return !waiting_.empty(); }

private:
    static constexpr duration slack = 200ms;

    void expect(bool good, const char* otherwise)
    {
        if (!good)
            world_.violation(otherwise);
    }

    world& world_;
    process& process_;
    const recipes::batch_params limits_;
    const duration wait_;
    std::deque<order_pointer> waiting_;
    bool asking_ = false, serving_ = false, closed_ = false;
    time_point nobody_since_{}, last_end_{};
};

} // namespace holdfast::recipe_simulation
