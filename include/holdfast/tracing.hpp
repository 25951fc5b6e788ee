#pragma once

#include <holdfast/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast {

/// An instant, by both clocks that tracing systems ask for.
struct trace_time {
    std::chrono::system_clock::time_point system{}; ///< for the beginning of a span, and events
    std::chrono::steady_clock::time_point steady{}; ///< for durations
};

/// Something within a span. The texts are valid during the call only.
struct trace_event {
    std::string_view name;   ///< "attempt": the nodes are asked. "queued": it waits in the queue
                             ///< between processes. "vote": a node has answered. "decided": the end
                             ///< of an attempt. "omitted": others were left out here, see `tracer`
    trace_time time{};       ///< when it happened; "omitted": the last that was left out
    std::string_view node{}; ///< of a vote: the address, without user and password
    error_code error{};      ///< of a vote or a decision: none if it granted; `contended` if it
                             ///< refused; otherwise the reason. For a vote also `no_reply`
};

/// A span, made by a `tracer`. The library calls it on the locker's executor, outside of all locks,
/// one call at a time for each locker. A call that blocks is like a handler that blocks: see the
/// constructor of `locker`. The library destroys it after `end()`.
///
/// Its destructor must not use the locker. Without `end()` it is destroyed only if the execution
/// context is destroyed first, or if the process is a forked child. No end is dropped: the spans of
/// operations and leases that have ended wait in memory for a tracer that is too slow.
class trace_span {
public:
    virtual ~trace_span() = default;

    /// In the order of their times.
    virtual void add(const trace_event& what) noexcept = 0;

    /// For the span of an acquire, before its `end()`: the lease was granted at that time. Returns
    /// the span of the hold, which ends when the lease is released or lost; null for none. It
    /// should have the same parent as the span of the acquire.
    virtual std::shared_ptr<trace_span> begin_hold(
        std::optional<std::uint64_t> fence, const trace_time& time) noexcept = 0;

    /// An acquire: none if a lease was granted, otherwise the error of the call. `contended` also
    /// for a `try_acquire()` that found the resource held. A hold: none if the holder released it,
    /// `errc::lease_lost` if it was lost.
    virtual void end(error_code outcome, const trace_time& time) noexcept = 0;
};

/// Makes spans, for `locker_options::tracer`. To be implemented by the user, for example with
/// OpenTelemetry; holdfast has no tracing system of its own.
///
/// An acquire is a span. Its attempts and the votes of the nodes are events in it. The hold of the
/// lease is a span of its own, because it begins when the acquire ends. Everything is reported with
/// the time when it happened; it may be reported later: all of an acquire at its end. Of a long
/// wait, the first 64 and the last 64 events are reported, with "omitted" between them.
class tracer {
public:
    virtual ~tracer() = default;

    /// The span of an `acquire()`, `try_acquire()` or `hold()`, begun now; null for none. Called by
    /// the thread that initiates the operation, inside that call, without a lock. So the current
    /// span of the caller, if there is one, is the parent. Many threads may call it at once.
    virtual std::shared_ptr<trace_span> begin_acquire(std::string_view resource) noexcept = 0;
};

} // namespace holdfast
