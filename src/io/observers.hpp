#pragma once

#include "core/journal.hpp"
#include "core/store_nodes.hpp"
#include "io/clock.hpp"
#include "io/outbox.hpp"
#include "io/suspension_watch.hpp"
#include "io/trace_book.hpp"

#include <holdfast/events.hpp>
#include <holdfast/options.hpp>
#include <holdfast/stats.hpp>
#include <holdfast/tracing.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace holdfast::io {

// Tells the user's observers of a locker what is in its journal: the callback for events, and the
// spans of its tracer. They are called later, by an outbox, without a lock.
//
// All members are called under the engine's mutex.
class observers {
public:
    observers(const asio::any_io_executor& executor, const locker_options& options);

    // Empties the journal.
    void tell(core::journal& notes, const core::store_nodes& nodes);
    // An acquire begins, with this span. It has ended, because it was cancelled.
    void begin(std::uint64_t wait, std::shared_ptr<trace_span> span);
    void cancelled(std::uint64_t wait, core::time_point now);

    // As io::to_steady(). Notices that the machine was suspended.
    std::chrono::steady_clock::time_point to_steady(core::time_point when) noexcept;

    void add_to(locker_stats& stats) const;

    using callback = std::function<void(const event&)>;
    // Nothing is told any more. Returns what belongs to the user, to be destroyed.
    struct remains {
        std::deque<outbox::entry> calls;
        std::vector<std::shared_ptr<void>> spans;
        std::shared_ptr<const callback> on_event;
    };
    remains stop() noexcept;

private:
    std::shared_ptr<const callback> on_event_; // null if there is none
    std::shared_ptr<outbox> calls_;            // null without observers
    trace_book spans_;
    suspension_watch suspensions_;
};

} // namespace holdfast::io
