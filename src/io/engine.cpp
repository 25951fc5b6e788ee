#include "io/engine.hpp"

#include "core/explanation.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::io {

namespace {

constexpr std::array all_operation_kinds{operation_kind::acquire, operation_kind::lost,
    operation_kind::extend, operation_kind::release, operation_kind::drain, operation_kind::close,
    operation_kind::inspect, operation_kind::list, operation_kind::force_release};

// How operations end in a child process. Leases are lost there: work under them is stopped.
error_code reason_in_child(operation_kind kind)
{
    switch (kind) {
    case operation_kind::acquire:
    case operation_kind::inspect:
    case operation_kind::list:
    case operation_kind::force_release:
        break;
    case operation_kind::lost:
    case operation_kind::extend:
        return make_error_code(errc::lease_lost);
    case operation_kind::release: // expired
    case operation_kind::drain:
    case operation_kind::close:
        return {}; // there is nothing to wait for
    }
    return make_error_code(errc::closed);
}

} // namespace

std::shared_ptr<engine> engine::make(
    asio::any_io_executor executor, const backend& store, const locker_options& options)
{
    auto made = std::make_shared<engine>(std::move(executor), store, options);
    registry::of(made->executor_).add(*made);
    const std::lock_guard lock(made->mutex_);
    made->is_registered_ = true;
    made->performer_.schedule_turn(); // connects
    return made;
}

engine::engine(asio::any_io_executor executor, const backend& store, const locker_options& options)
    : executor_(std::move(executor)),
      tracer_(options.tracer),
      performer_(*this, executor_, store, options)
{}

engine::~engine()
{
    if (is_registered_)
        registry::of(executor_).remove(*this);
}

// In a child process, `op` completes. Otherwise the caller destroys it, and its
// handler, after unlocking the mutex.
template <class Operation>
void engine::refuse(std::unique_ptr<Operation>& op)
{
    if (state_ != state::left_to_parent)
        return;
    op->set_error(reason_in_child(op->kind));
    deliver_later(std::move(op));
}

void engine::deliver_later(std::unique_ptr<operation> op)
{
    asio::post(executor_, [op = std::move(op)]() mutable { deliver(std::move(op)); });
}

void engine::acquire(std::shared_ptr<const lock_terms> terms, std::chrono::milliseconds wait,
    bool once, std::shared_ptr<trace_span> span, acquire_operation::handler_type&& handler)
{
    auto op = std::make_unique<acquire_operation>(
        operation_kind::acquire, 0, std::move(handler), lease());
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return refuse(op);
    op->set_result(lease(shared_from_this(), 0, terms->what, std::nullopt));
    operation& added = *op;
    const core::slot_id id = performer_.operations().add(std::move(op));
    if (span != nullptr)
        performer_.told().begin(id, std::move(span));
    const core::time_point now = io::now();
    wait = std::max(wait, std::chrono::milliseconds(0));
    added.about = performer_.core().acquire(id, terms->what->name(), terms->lease, wait, once, now);
    attach_cancellation(added);
    performer_.after_call(now);
}

void engine::wait_lost(core::slot_id lease, error_operation::handler_type&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::lost, lease, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return refuse(op);
    operation& added = *op;
    performer_.operations().add(std::move(op));
    if (const errc reason = performer_.core().leases().must_stop(lease); reason != errc{})
        performer_.operations().finish(added, reason);
    else
        attach_cancellation(added);
    performer_.after_call(io::now());
}

void engine::extend(core::slot_id lease, error_operation::handler_type&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::extend, lease, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return refuse(op);
    const core::time_point now = io::now();
    performer_.core().settle(lease, now);
    performer_.perform_effects(); // an earlier extension that is over is not this one
    operation& added = *op;
    performer_.operations().add(std::move(op));
    if (const errc reason = performer_.core().extend(lease, now); reason != errc{})
        performer_.operations().finish(added, reason);
    else
        attach_cancellation(added);
    performer_.after_call(now);
}

void engine::release(core::slot_id lease, release_operation::handler_type&& handler)
{
    auto op = std::make_unique<release_operation>(
        operation_kind::release, lease, std::move(handler), release_outcome::unconfirmed);
    const std::lock_guard lock(mutex_);
    if (state_ != state::running) {
        op->set_result(release_outcome::expired);
        return refuse(op);
    }
    auto& added = *op;
    const core::slot_id id = performer_.operations().add(std::move(op));
    const core::time_point now = io::now();
    if (performer_.core().release(lease, id, now)) {
        attach_cancellation(added);
    } else {
        added.set_result(release_outcome::expired);
        performer_.operations().finish(added, errc::not_held);
    }
    performer_.after_call(now);
}

void engine::drop(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return;
    const core::time_point now = io::now();
    if (performer_.core().drop(lease, now))
        performer_.after_call(now);
}

void engine::drain(std::chrono::milliseconds limit, error_operation::handler_type&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::drain, 0, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return refuse(op);
    operation& added = *op;
    performer_.operations().add(std::move(op));
    attach_cancellation(added);
    const core::time_point now = io::now();
    performer_.core().drain(std::max(limit, std::chrono::milliseconds(0)), now);
    performer_.after_call(now);
}

void engine::inspect(
    std::unique_ptr<operation> op, core::inspection_task task, const std::string& name)
{
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return refuse(op);
    operation& added = *op;
    performer_.operations().add(std::move(op));
    const core::time_point now = io::now();
    if (performer_.core().closes()) {
        performer_.operations().finish(added, errc::closed);
    } else if (performer_.questions().begin(added, task, name, now)) {
        attach_cancellation(added);
    }
    performer_.after_call(now);
}

void engine::close(error_operation::handler_type&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::close, 0, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return refuse(op);
    operation& added = *op;
    performer_.operations().add(std::move(op));
    const core::time_point now = io::now();
    if (performer_.is_closed()) {
        performer_.operations().finish(added, {});
    } else {
        attach_cancellation(added);
        performer_.questions().end();
        performer_.core().close(now);
    }
    performer_.after_call(now);
}

void engine::close() noexcept
{
    const std::lock_guard lock(mutex_);
    if (state_ != state::running)
        return;
    const core::time_point now = io::now();
    performer_.questions().end();
    performer_.core().close(now);
    performer_.after_call(now);
}

locker_stats engine::stats()
{
    const std::lock_guard lock(mutex_);
    locker_stats s;
    performer_.core().add_to(s);
    performer_.told().add_to(s);
    return s;
}

std::string engine::explain(const std::string& resource, const error_code& why)
{
    bool holds = false;
    locker_stats s;
    {
        const std::lock_guard lock(mutex_);
        holds = state_ != state::left_to_parent && performer_.core().holds(resource);
        performer_.core().add_to(s);
    }
    return core::explanation_of(resource, why, holds, describe_nodes(s));
}

void engine::attach_cancellation(operation& op)
{
    auto slot = op.slot();
    if (!slot.is_connected())
        return;
    slot.assign([weak = weak_from_this(), id = op.id](asio::cancellation_type type) {
        if (const auto self = weak.lock())
            self->cancel(id, type);
    });
}

void engine::cancel(core::slot_id id, asio::cancellation_type type)
{
    const std::lock_guard lock(mutex_);
    operation* const found = performer_.operations().find(id);
    if (found == nullptr || state_ != state::running)
        return;
    operation& op = *found;
    const bool only_total =
        (type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
        asio::cancellation_type::none;
    const core::time_point now = io::now();
    switch (op.kind) {
    case operation_kind::acquire:
        if (!performer_.core().cancel(op.about, only_total, now))
            return;
        static_cast<acquire_operation&>(op).set_result(lease());
        performer_.told().cancelled(id, now);
        break;
    case operation_kind::extend:
    case operation_kind::release:
        if (only_total)
            return;
        break;
    case operation_kind::force_release:
        if (only_total)
            return;
        performer_.questions().forget(op);
        break;
    case operation_kind::inspect:
    case operation_kind::list:
        performer_.questions().forget(op);
        break;
    case operation_kind::lost:
    case operation_kind::drain:
    case operation_kind::close:
        break;
    }
    performer_.operations().finish(op, asio::error::operation_aborted);
    performer_.after_call(now);
}

// Operations under way end. A lease that was granted and not delivered is the parent's as well.
void engine::leave_to_parent() noexcept
{
    performer::orphans orphans;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(state_, state::left_to_parent) != state::running)
            return;
        performer_.leave_sockets();
        performer_.operations().for_each(operation_kind::release, [](operation& op) {
            static_cast<release_operation&>(op).set_result(release_outcome::expired);
        });
        for (const operation_kind kind : all_operation_kinds)
            performer_.operations().finish_all(kind, reason_in_child(kind));
        orphans = performer_.abandon();
    }
    for (auto& each : orphans.operations) {
        if (each->kind == operation_kind::acquire && !each->has_failed()) {
            static_cast<acquire_operation&>(*each).set_result(lease());
            each->set_error(reason_in_child(each->kind));
        } else if (each->kind == operation_kind::extend && !each->has_failed()) {
            each->set_error(reason_in_child(each->kind));
        }
        deliver_later(std::move(each));
    }
}

void engine::abandon() noexcept
{
    performer::orphans orphans; // handlers are destroyed without the mutex, and with them leases
    {
        const std::lock_guard lock(mutex_);
        is_registered_ = false;
        if (state_ != state::running)
            return;
        state_ = state::abandoned;
        orphans = performer_.abandon();
    }
}

} // namespace holdfast::io
