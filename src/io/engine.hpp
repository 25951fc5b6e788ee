#pragma once

#include "core/params.hpp"
#include "core/slot_map.hpp"
#include "io/clock.hpp"
#include "io/operations.hpp"
#include "io/performer.hpp"
#include "io/registry.hpp"
#include "io/transport.hpp"

#include <holdfast/backend.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/stats.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <mutex>

namespace holdfast::io {

// The contents of a `lock`, with the terms computed once.
struct lock_terms {
    holdfast::resource what;
    lock_options options;
    core::lease_params lease;
};

// The calls of users, and all that happens meanwhile, under one mutex. Handlers run outside the
// mutex. An operation that finishes inside a user's call is delivered in a later turn of the
// executor, never in that call.
//
// Lives as long as anything is under way. If the execution context is destroyed first, `abandon()`
// destroys the pending operations, as Asio's own services do.
class engine final : public std::enable_shared_from_this<engine>,
                     public transport_owner,
                     public registrant {
public:
    using acquire_handler = detail::any_handler<void(error_code, lease)>;
    using error_handler = detail::any_handler<void(error_code)>;
    using release_handler = detail::any_handler<void(error_code, release_outcome)>;

    static std::shared_ptr<engine> make(
        asio::any_io_executor executor, const backend& store, const locker_options& options);
    engine(asio::any_io_executor executor, const backend& store, const locker_options& options);
    ~engine();

    void acquire(std::shared_ptr<const lock_terms> terms, std::chrono::milliseconds wait, bool once,
        acquire_handler&& handler);
    void wait_lost(core::slot_id lease, error_handler&& handler);
    void extend(core::slot_id lease, error_handler&& handler);
    void release(core::slot_id lease, release_handler&& handler);
    void drop(core::slot_id lease) noexcept;
    void close(error_handler&& handler);
    void close() noexcept;

    bool alive(core::slot_id lease) noexcept;
    bool held(core::slot_id lease) noexcept;
    core::time_point valid_until(core::slot_id lease) noexcept;
    locker_stats stats();
    const asio::any_io_executor& executor() const noexcept { return executor_; }
    // How long to wait for a node's answer. Constant, so no mutex is needed.
    core::duration patience(core::duration ttl) const noexcept
    {
        return performer_.backend().patience(ttl);
    }
    core::duration longest_ttl() const noexcept { return performer_.backend().longest_ttl(); }

    // For the library's own handlers: runs `action` under the mutex, then performs its consequences
    // and delivers finished operations.
    template <class Action>
    void enter(Action action)
    {
        std::unique_lock lock(mutex_);
        if (abandoned_)
            return;
        action();
        performer_.settle(io::now());
        performer_.deliver_finished(lock);
    }

private:
    // transport_owner
    std::shared_ptr<transport_owner> owned() override { return shared_from_this(); }
    void enter_from_transport(void (*action)(void*), void* context) override
    {
        enter([&] { action(context); });
    }
    // registrant
    std::shared_ptr<registrant> owned_registrant() noexcept override
    {
        return weak_from_this().lock();
    }
    // The execution context is being destroyed.
    void abandon() noexcept override;
    // This is the copy in a child process: the leases belong to the parent.
    void leave_to_parent() noexcept override;

    void attach_cancellation(operation& op);
    void cancel(core::slot_id id, asio::cancellation_type type);
    template <class Operation>
    void refuse(std::unique_ptr<Operation>& op, errc reason);

    std::mutex mutex_;
    const asio::any_io_executor executor_;
    performer performer_;
    bool abandoned_ = false;
    bool left_to_parent_ = false;
};

} // namespace holdfast::io
