#pragma once

#include "core/admission_line.hpp"
#include "core/backend.hpp"
#include "core/claim_slot.hpp"
#include "core/overload_watch.hpp"
#include "core/pauses.hpp"
#include "core/report.hpp"
#include "core/token_source.hpp"
#include "core/wait_queues.hpp"

#include <holdfast/options.hpp>

namespace holdfast::core {

// Gets the resources that waits of this process want. Decides which wait asks the backend, and
// when; what follows a refusal; and who is next at a resource, here or in another process.
class contest {
public:
    // All of these outlive it.
    contest(backend_core& backend, token_source& tokens, claim_slots& slots, wait_queues& queues,
        report& outcomes, const locker_options& options, std::uint64_t jitter_seed);

    // As for the locker core. No attempt is made after end_all().
    slot_id acquire(std::uint64_t tag, std::string_view resource, const lease_params& terms,
        std::chrono::milliseconds wait, bool once, time_point now);
    bool cancel(slot_id wait, bool only_if_unsent, time_point now);
    void end_all(time_point now);

    // The events of an attempt. After `granted`, wait_queues::take_first() follows.
    void granted(const backend_event& event, time_point now);
    void refused(const backend_event& event, time_point now);
    void parked(slot_id attempt) noexcept;
    // The answer to watch().
    void hinted(const backend_event& event, time_point now);

    // The local holder and its lease are gone. The next wait follows at once, unless other
    // processes are due a turn.
    void end_turn(slot_id queue, time_point now);

    // Ends the waits whose time is up, and those that fail fast while the backend is cut off.
    // Perhaps an overload ends as well. True if the backend may have been asked for something.
    bool end_due(time_point now);
    // Serves the queues that are to be tried again. False if there are none. To be repeated after
    // the backend's events, because some backends refuse at once.
    bool try_due(time_point now);
    // Makes the next attempt in the line for admission. False if there is none, or may be none.
    bool admit_next(time_point now) { return !line_.is_empty() && admit_first(now); }
    time_point wake_at() const noexcept
    {
        return std::min({queues_.wake_at(), line_.wake_at(), overload_.look_at()});
    }

    // Makes few attempts while this process does not keep up with its own results.
    void hold_back(bool is_late) noexcept { line_.hold_back(is_late); }
    void add_to(locker_stats& stats) const;

private:
    void serve(slot_id queue, time_point now);
    void ask(slot_id queue, time_point now);
    bool admit_first(time_point now);
    // No reason: the time is up, and the reason is that of its attempts.
    void end_wait(slot_id wait, errc reason, time_point now);
    void leave(slot_id wait, time_point now);
    void end_failing_fast(time_point now);
    void note_overload(time_point now);

    backend_core& backend_;
    token_source& tokens_;
    claim_slots& slots_;
    wait_queues& queues_;
    report& report_;
    const std::size_t max_waiting_;

    admission_line line_;
    pauses pauses_;
    overload_watch overload_; // used only for observers
    bool over_ = false;       // after end_all()
};

} // namespace holdfast::core
