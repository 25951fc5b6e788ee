#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <holdfast/detail/batch_ending.hpp>
#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::recipes {

struct batch_params {
    std::size_t max_batch = 1;
    std::size_t max_queued = 1;
    core::duration gather{}; // how long the first request waits for others
};

// Decides for a batcher: which requests wait, when the lock is asked for, which requests are served
// together, and whose caller is told what. One lease serves one batch; the next lease is asked for
// when that batch has ended.
//
// Pure: no I/O, no clock. Each call is given the time. Not thread-safe.
class batch_line {
public:
    explicit batch_line(const batch_params& params) noexcept : params_(params) {}

    // Why no request is taken now; none if one is.
    errc refusal() const noexcept;
    // Puts a request behind the others. Precondition: no refusal().
    core::slot_id add(core::time_point now);

    // False if the request goes on: it has ended, or its batch has begun and `detach` is not set,
    // which says that the caller need not wait for the end of the batch.
    bool cancel(core::slot_id request, bool detach);

    // What to do now. To be asked after each change, and at the time that it has told.
    enum class action : std::uint8_t {
        none,
        wake,        // ask again at `at`
        acquire,     // the lock; answered by granted() or refused()
        stop_asking, // cancel the acquire: no request waits any more
        finish,      // it is closed, and no lease is left: closing has ended
    };
    struct order {
        action what = action::none;
        core::time_point at = core::never;
    };
    order next(core::time_point now) noexcept;

    // No lease came. Returns the requests to be told so: those that waited when it was asked for.
    // There is none if the acquire was stopped; later ones wait on.
    std::vector<core::slot_id> refused();
    // A lease has come. It is given back after the batch: see turn_ended().
    void granted() noexcept;
    // Returns the batch, in the order of the requests. May be empty.
    std::vector<core::slot_id> begin_batch();
    struct end_of_batch {
        error_code outcome; // what the callers are told
        // Those that wait for it, in the order of the batch; 0 in the place of the others.
        std::vector<core::slot_id> callers;
    };
    end_of_batch end_batch(const detail::batch_ending& how);
    // The lease was given back.
    void turn_ended() noexcept { --turns_; }

    // Takes no more requests. Returns those that wait.
    std::vector<core::slot_id> close();

    // The lock is neither asked for, nor is a batch served.
    bool is_idle() const noexcept { return stage_ == stage::idle; }
    std::size_t waiting() const noexcept { return waiting_; }

private:
    enum class stage : std::uint8_t { idle, asking, serving };

    struct place {
        bool served = false;      // its batch has begun
        std::uint64_t number = 0; // in the order of the requests; then in the batch
        core::time_point since{};
        core::slot_id next = 0, previous = 0;
    };

    // When to ask for the lock; `never` while that depends on other calls.
    core::time_point ask_at() const noexcept;
    void unlink(const place& p) noexcept;
    std::vector<core::slot_id> take_up_to(std::uint64_t number);

    const batch_params params_;
    core::slot_map<place> places_;
    core::slot_id first_ = 0, last_ = 0; // of those that wait
    std::size_t waiting_ = 0;
    std::uint64_t numbers_ = 0;     // given to requests
    std::uint64_t asked_up_to_ = 0; // the last request when the lock was asked for
    std::vector<core::slot_id> batch_;
    std::size_t turns_ = 0; // leases that were not given back
    stage stage_ = stage::idle;
    bool closed_ = false;
};

} // namespace holdfast::recipes
