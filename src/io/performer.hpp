#pragma once

#include "core/alarm.hpp"
#include "core/backend.hpp"
#include "core/locker_core.hpp"
#include "io/entropy.hpp"
#include "io/inspections.hpp"
#include "io/observers.hpp"
#include "io/operation_table.hpp"
#include "io/operations.hpp"
#include "io/transport.hpp"
#include "io/transports.hpp"

#include <holdfast/backend.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::io {

using acquire_operation = operation_of<lease>;
using error_operation = operation_of<>;
using release_operation = operation_of<release_outcome>;

// Performs the decisions of the locker core with transports, one timer and the users' handlers.
// Makes no decisions. Requests made in one turn are sent together, in one write for each node.
//
// All members are called under the owner's mutex.
class performer {
public:
    performer(transport_owner& owner, const asio::any_io_executor& executor, const backend& store,
        const locker_options& options);

    core::locker_core& core() noexcept { return core_; }
    const core::locker_core& core() const noexcept { return core_; }
    const core::backend_core& backend() const noexcept { return *backend_; }
    operation_table& operations() noexcept { return operations_; }
    observers& told() noexcept { return observers_; }
    inspections& questions() noexcept { return inspections_; }
    bool is_closed() const noexcept { return closed_; }

    // Wakes the core and follows its connections until nothing changes, then performs its effects.
    void settle(core::time_point now);
    // Performs what the core has decided. after_call() still has to follow.
    void perform_effects();
    // To be called at the end of a user's call. The remaining work and the handlers get a separate
    // turn.
    void after_call(core::time_point now);
    // Asks the executor for a turn, which settles everything.
    void schedule_turn();
    // Runs handlers of finished operations, without the mutex.
    void deliver_finished(std::unique_lock<std::mutex>& lock);

    // Closes all connections and the timer. Returns the operations, and what observers have of the
    // user, to be destroyed.
    struct orphans {
        std::vector<std::unique_ptr<operation>> operations;
        observers::remains told;
    };
    orphans abandon() noexcept;
    // In a child process: nothing is sent on its copies of the sockets from now on.
    void leave_sockets() noexcept { transports_.leave_sockets(); }

private:
    void perform(const core::effect& e);
    void follow_wall_clock(core::time_point now) noexcept;
    void arm_timer(core::time_point now);

    handler_guard guarded_;
    const asio::any_io_executor executor_;
    os_entropy entropy_;
    std::unique_ptr<core::backend_core> backend_;
    core::locker_core core_;
    transports transports_;
    std::unique_ptr<asio::steady_timer> timer_;
    core::alarm alarm_;
    operation_table operations_;
    inspections inspections_;
    observers observers_;
    core::time_point wall_clock_read_ = core::long_ago;
    bool turn_scheduled_ = false;
    bool late_ = false; // the core makes few attempts until the next turn
    bool closed_ = false;
};

} // namespace holdfast::io
