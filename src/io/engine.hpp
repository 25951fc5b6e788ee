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
#include <string>
#include <string_view>

namespace holdfast::io {

// The contents of a `lock`, with the terms computed once. A lease keeps the name only.
struct lock_terms {
    std::shared_ptr<const holdfast::resource> what; // not null
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
    static std::shared_ptr<engine> make(
        asio::any_io_executor executor, const backend& store, const locker_options& options);
    engine(asio::any_io_executor executor, const backend& store, const locker_options& options);
    ~engine();

    // `span`: from begin_span().
    void acquire(std::shared_ptr<const lock_terms> terms, std::chrono::milliseconds wait, bool once,
        std::shared_ptr<trace_span> span, acquire_operation::handler_type&& handler);
    void wait_lost(core::slot_id lease, error_operation::handler_type&& handler);
    void extend(core::slot_id lease, error_operation::handler_type&& handler);
    void release(core::slot_id lease, release_operation::handler_type&& handler);
    void drop(core::slot_id lease) noexcept;
    void drain(std::chrono::milliseconds limit, error_operation::handler_type&& handler);
    // `op`: of the kind that belongs to the task.
    void inspect(
        std::unique_ptr<operation> op, core::inspection_task task, const std::string& name);
    void close(error_operation::handler_type&& handler);
    void close() noexcept;

    // The span of an operation that begins now, on the thread that has initiated it. Null for none.
    std::shared_ptr<trace_span> begin_span(const std::string& resource) const noexcept
    {
        return tracer_ != nullptr ? tracer_->begin_acquire(resource) : nullptr;
    }
    // Asks something about leases: returns `question(leases, ours)`. In a child process, the leases
    // are not `ours`.
    template <class Question>
    auto ask(const Question& question) noexcept
    {
        const std::lock_guard lock(mutex_);
        return question(performer_.core().leases(), state_ != state::left_to_parent);
    }
    // Whether leases are granted: no draining or closing has begun.
    bool grants() noexcept
    {
        const std::lock_guard lock(mutex_);
        return state_ == state::running && performer_.core().grants();
    }
    locker_stats stats();
    std::string explain(const std::string& resource, const error_code& why);
    const asio::any_io_executor& executor() const noexcept { return executor_; }
    // Only for what is constant, as about() and patience(): no mutex is needed.
    const core::backend_core& store() const noexcept { return performer_.backend(); }

    // For the library's own handlers: runs `action` under the mutex, then performs its consequences
    // and delivers finished operations.
    template <class Action>
    void enter(Action action)
    {
        std::unique_lock lock(mutex_);
        if (state_ != state::running)
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
    void refuse(std::unique_ptr<Operation>& op);
    void deliver_later(std::unique_ptr<operation> op);

    std::mutex mutex_;
    const asio::any_io_executor executor_;
    const std::shared_ptr<tracer> tracer_; // may be null
    performer performer_;
    enum class state : std::uint8_t { running, abandoned, left_to_parent };
    state state_ = state::running;
    bool is_registered_ = false; // the execution context knows it
};

} // namespace holdfast::io
