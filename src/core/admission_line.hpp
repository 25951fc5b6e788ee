#pragma once

#include "core/admission.hpp"
#include "core/line_forecast.hpp"
#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::core {

// What an attempt counts as. Its owner keeps this, and gives it to each call about the attempt.
enum class attempt_load : std::uint8_t { none, under_way, parked };

// Limits the attempts of a locker. Those that may not begin yet stand in line: first come, first
// served, over all resources. An attempt is parked while it waits in the backend's queue for its
// turn. That costs almost nothing, and its duration says nothing about the load.
class admission_line {
public:
    // How many attempts may be parked. The number is limited because each asks now and then whether
    // its turn has come.
    static constexpr std::size_t most_parked = 2048;

    // Whether a newcomer that may stand in line for so long should be refused.
    bool refuses(std::chrono::milliseconds wait, time_point now) const noexcept
    {
        return !admission_.is_cut_off() && forecast_.refuses(places_.size(), wait, now);
    }
    // Whether an attempt may begin now, without standing in line.
    bool lets_pass(time_point now) noexcept { return is_empty() && admission_.is_open(now); }

    bool is_empty() const noexcept { return first_ == 0; }
    // Returns the place in line. `waiter` is what next() returns.
    slot_id join(slot_id waiter, time_point now);
    void leave(slot_id place);
    // Takes the first out of the line, if an attempt may begin now; otherwise returns 0. If the
    // attempt is made, admitted() and began() follow.
    slot_id next(time_point now);
    void admitted(time_point now) noexcept;

    attempt_load began() noexcept;
    void park(attempt_load& load) noexcept;
    // As for `admission`. A parked attempt tells it nothing.
    void answered(
        attempt_load& load, time_point asked, duration node_timeout, time_point now) noexcept;
    // Precondition: the attempt is not parked.
    void unanswered(attempt_load& load, time_point asked, duration node_timeout, duration pause,
        time_point now) noexcept;
    void abandon(attempt_load& load, duration node_timeout, time_point now);

    bool has_room_to_park() const noexcept { return parked_ < most_parked; }
    // When to call next() again, if that depends on time only.
    time_point wake_at() const noexcept { return is_empty() ? never : admission_.opens_at(); }

    void hold_back(bool is_late) noexcept { admission_.hold_back(is_late); }
    const admission& limit() const noexcept { return admission_; }

private:
    struct place {
        slot_id waiter = 0;
        slot_id before = 0, behind = 0;
    };

    bool unpark(attempt_load& load) noexcept;

    admission admission_;
    line_forecast forecast_;
    slot_map<place> places_;
    slot_id first_ = 0, last_ = 0;
    std::size_t parked_ = 0;
};

} // namespace holdfast::core
