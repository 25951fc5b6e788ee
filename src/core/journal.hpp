#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"

#include <holdfast/events.hpp>
#include <holdfast/options.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace holdfast::core {

// A step of an acquire or of a hold, for traces. An attempt has the id of the lease that may come
// of it.
struct trace_mark {
    enum class step : std::uint8_t {
        attempt,  // `claim` asks the nodes for `wait`; also when another wait takes an attempt over
        queued,   // `claim` waits for its turn
        vote,     // `node` has answered `claim`: `reason`
        decided,  // `claim`: `reason`
        given_up, // `claim`, undecided
        granted,  // `wait` gets `claim`: `fence`
        failed,   // `wait` has ended: `reason`
        over,     // the hold of `claim`: `reason`
    };

    step kind{};
    errc reason{}; // none: granted, or released
    std::uint32_t node = 0;
    std::uint64_t wait = 0; // its tag
    slot_id claim = 0;
    std::optional<std::uint64_t> fence{};
    time_point at{};
};

// An event whose `time` is still to be set, from `at`.
struct noted_event {
    event what;
    time_point at{};
};

// What the observers of a locker are to be told, in order: events, and steps of traces. Without
// observers it stays empty: each note costs one comparison then, and nothing is built.
class journal {
public:
    journal() = default;
    explicit journal(const locker_options& options)
        : lowest_(options.on_event ? static_cast<int>(options.event_level) : nothing),
          traces_(options.tracer != nullptr)
    {}

    bool wants(event_level level) const noexcept { return static_cast<int>(level) >= lowest_; }
    bool traces() const noexcept { return traces_; }
    bool empty() const noexcept { return events_.empty() && marks_.empty(); }

    void acquired(std::uint64_t wait, slot_id lease, std::string_view resource,
        std::optional<std::uint64_t> fence, time_point now)
    {
        if (wants(event_level::debug))
            note_lease(event::type::acquired, event_level::debug, resource, fence, now);
        if (traces_)
            mark({.kind = trace_mark::step::granted,
                .wait = wait,
                .claim = lease,
                .fence = fence,
                .at = now});
    }
    void released(slot_id lease, std::string_view resource, time_point now)
    {
        if (wants(event_level::debug))
            note_lease(event::type::released, event_level::debug, resource, std::nullopt, now);
        if (traces_)
            mark({.kind = trace_mark::step::over, .claim = lease, .at = now});
    }
    void lost(slot_id lease, std::string_view resource, time_point now)
    {
        if (wants(event_level::error))
            note_lease(event::type::lost, event_level::error, resource, std::nullopt, now);
        if (traces_)
            mark({.kind = trace_mark::step::over,
                .reason = errc::lease_lost,
                .claim = lease,
                .at = now});
    }
    // `quiet`: a refusal is not an error of the caller.
    void wait_failed(
        std::uint64_t wait, std::string_view resource, errc reason, bool quiet, time_point now)
    {
        if (lowest_ != nothing && !quiet)
            note_failure(resource, reason, now);
        if (traces_)
            mark({.kind = trace_mark::step::failed, .reason = reason, .wait = wait, .at = now});
    }

    void overload(bool begins, time_point now);

    // Steps of an attempt.
    void asked(std::uint64_t wait, slot_id claim, time_point now)
    {
        if (traces_)
            mark({.kind = trace_mark::step::attempt, .wait = wait, .claim = claim, .at = now});
    }
    void queued(slot_id claim, time_point now)
    {
        if (traces_)
            mark({.kind = trace_mark::step::queued, .claim = claim, .at = now});
    }
    void given_up(slot_id claim, time_point now)
    {
        if (traces_)
            mark({.kind = trace_mark::step::given_up, .claim = claim, .at = now});
    }
    void decided(slot_id claim, errc reason, time_point now)
    {
        if (traces_)
            mark({.kind = trace_mark::step::decided, .reason = reason, .claim = claim, .at = now});
    }

    // Does nothing if no observer wants it; for rare events.
    void note(event what, time_point now)
    {
        if (wants(what.level))
            events_.push_back({std::move(what), now});
    }
    // Precondition: traces().
    void mark(const trace_mark& m) { marks_.push_back(m); }

    std::optional<noted_event> next_event();
    std::optional<trace_mark> next_mark();

private:
    static constexpr int nothing = 1 + static_cast<int>(event_level::error);

    void note_lease(event::type kind, event_level level, std::string_view resource,
        std::optional<std::uint64_t> fence, time_point now);
    void note_failure(std::string_view resource, errc reason, time_point now);

    int lowest_ = nothing;
    bool traces_ = false;
    std::deque<noted_event> events_;
    std::deque<trace_mark> marks_;
};

} // namespace holdfast::core
