#pragma once

#include "core/backoff.hpp"
#include "core/time.hpp"
#include "core/wake_time.hpp"
#include "redis/node/node_settings.hpp"

#include <cstdint>

namespace holdfast::redis {

enum class reachability : std::uint8_t {
    ready,
    soon, // connecting for the first time, or after the connection had worked: worth a wait
    down,
};

// When the connection to a node should be open: how long an attempt may take, and how long the
// pause before the next one is. The pauses grow, and are random.
class connection_schedule {
public:
    // `settings` and `wakes`, which is told of its deadlines, must outlive it.
    connection_schedule(
        const node_settings& settings, core::wake_time& wakes, std::uint64_t jitter_seed) noexcept
        : settings_(settings),
          wakes_(wakes),
          jitter_(jitter_seed)
    {
        set_deadline(core::long_ago);
    }

    enum class phase : std::uint8_t {
        idle,      // until the first wake()
        searching, // for the address, of which there is none yet
        opening,
        greeting,
        ready,
        closing, // given up, but not closed yet
        pausing,
        shut // for good
    };
    phase now() const noexcept { return phase_; }
    bool is_ready() const noexcept { return phase_ == phase::ready; }
    bool is_open() const noexcept { return phase_ == phase::greeting || is_ready(); }
    bool wants_open() const noexcept { return phase_ == phase::opening || is_open(); }
    reachability reach() const noexcept
    {
        if (is_ready())
            return reachability::ready;
        const bool trying = phase_ == phase::idle || phase_ == phase::searching || wants_open();
        return trying && hopeful_ ? reachability::soon : reachability::down;
    }

    // Not ready, and the last attempt has failed, or its connection was very short.
    bool is_failing() const noexcept { return !is_ready() && !hopeful_; }

    // Of the attempt, or of the pause; the first wake() is due at once.
    core::time_point deadline() const noexcept { return deadline_; }
    // True if the attempt has taken too long, and must be given up.
    bool wake(core::time_point now) noexcept;

    // The address has been found: the connection is opened from now on.
    void found(core::time_point now) noexcept;
    // The search goes on until then.
    void search_until(core::time_point end) noexcept { set_deadline(end); }

    // The address is that of another node: earlier failures say nothing about it.
    void start_over() noexcept
    {
        hopeful_ = true;
        failures_ = 0;
    }

    // False if no connection was being opened.
    bool opened() noexcept;
    // The greeting is over.
    void greeted(core::time_point now) noexcept;
    // The connection, or the attempt, is given up. False if there is none. `hopeless`: a person
    // must do something first.
    bool give_up(bool hopeless, core::time_point now) noexcept;
    // What was given up is closed.
    void closed(core::time_point now) noexcept;
    // False if it was shut before.
    bool shut() noexcept;

private:
    void begin(core::time_point now) noexcept;
    void set_deadline(core::time_point when) noexcept
    {
        deadline_ = when;
        wakes_.note(when);
    }

    const node_settings& settings_;
    core::wake_time& wakes_;
    core::jitter jitter_;
    phase phase_ = phase::idle;
    bool hopeful_ = true; // this attempt is worth a wait
    bool hopeless_ = false;
    unsigned failures_ = 0; // in a row
    core::time_point deadline_ = core::never;
    core::time_point ready_since_{};
};

} // namespace holdfast::redis
