#include "io/engine.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::io {

std::shared_ptr<engine> engine::make(
    asio::any_io_executor executor, const backend& store, const locker_options& options)
{
    auto made = std::make_shared<engine>(std::move(executor), store, options);
    registry::of(made->executor_).add(*made);
    const std::lock_guard lock(made->mutex_);
    made->performer_.schedule_turn(); // connects
    return made;
}

engine::engine(asio::any_io_executor executor, const backend& store, const locker_options& options)
    : executor_(std::move(executor)),
      performer_(*this, executor_, store, options)
{}

engine::~engine()
{
    if (!abandoned_)
        registry::of(executor_).remove(*this);
}

// In a child process, `op` completes with `reason`. Otherwise the caller destroys it, and its
// handler, after unlocking the mutex.
template <class Operation>
void engine::refuse(std::unique_ptr<Operation>& op, errc reason)
{
    if (!left_to_parent_)
        return;
    op->set_error(reason == errc{} ? error_code() : make_error_code(reason));
    asio::post(executor_, [op = std::move(op)]() mutable { deliver(std::move(op)); });
}

void engine::acquire(std::shared_ptr<const lock_terms> terms, std::chrono::milliseconds wait,
    bool once, acquire_handler&& handler)
{
    auto op = std::make_unique<acquire_operation>(
        operation_kind::acquire, 0, std::move(handler), lease());
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc::closed);
    op->set_result(lease(shared_from_this(), 0, terms, std::nullopt));
    operation& added = *op;
    const core::slot_id id = performer_.operations().add(std::move(op));
    const core::time_point now = io::now();
    wait = std::max(once ? terms->options.wait : wait, std::chrono::milliseconds(0));
    added.about = performer_.core().acquire(id, terms->what.name(), terms->lease, wait, once, now);
    attach_cancellation(added);
    performer_.after_call(now);
}

void engine::wait_lost(core::slot_id lease, error_handler&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::lost, lease, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc::not_held);
    operation& added = *op;
    performer_.operations().add(std::move(op));
    if (const errc reason = performer_.core().must_stop(lease); reason != errc{})
        performer_.operations().finish(added, reason);
    else
        attach_cancellation(added);
    performer_.after_call(io::now());
}

void engine::extend(core::slot_id lease, error_handler&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::extend, lease, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc::not_held);
    operation& added = *op;
    performer_.operations().add(std::move(op));
    const core::time_point now = io::now();
    if (const errc reason = performer_.core().extend(lease, now); reason != errc{})
        performer_.operations().finish(added, reason);
    else
        attach_cancellation(added);
    performer_.after_call(now);
}

void engine::release(core::slot_id lease, release_handler&& handler)
{
    auto op = std::make_unique<release_operation>(
        operation_kind::release, lease, std::move(handler), release_outcome::unconfirmed);
    const std::lock_guard lock(mutex_);
    if (abandoned_) {
        op->set_result(release_outcome::expired);
        return refuse(op, errc::not_held);
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
    if (abandoned_)
        return;
    const core::time_point now = io::now();
    if (performer_.core().drop(lease, now))
        performer_.after_call(now);
}

void engine::close(error_handler&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::close, 0, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc{});
    operation& added = *op;
    performer_.operations().add(std::move(op));
    const core::time_point now = io::now();
    if (performer_.is_closed()) {
        performer_.operations().finish(added, {});
    } else {
        attach_cancellation(added);
        performer_.core().close(now);
    }
    performer_.after_call(now);
}

void engine::close() noexcept
{
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return;
    const core::time_point now = io::now();
    performer_.core().close(now);
    performer_.after_call(now);
}

bool engine::alive(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return !left_to_parent_ && performer_.core().alive(lease);
}

bool engine::held(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return !left_to_parent_ && performer_.core().held(lease, io::now());
}

core::time_point engine::valid_until(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return performer_.core().valid_until(lease);
}

locker_stats engine::stats()
{
    const std::lock_guard lock(mutex_);
    locker_stats s;
    performer_.core().add_to(s);
    return s;
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
    if (found == nullptr || abandoned_)
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
        break;
    case operation_kind::extend:
    case operation_kind::release:
        if (only_total)
            return;
        break;
    case operation_kind::lost:
    case operation_kind::close:
        break;
    }
    performer_.operations().finish(op, asio::error::operation_aborted);
    performer_.after_call(now);
}

void engine::leave_to_parent() noexcept
{
    left_to_parent_ = true;
    abandon();
}

void engine::abandon() noexcept
{
    std::vector<std::unique_ptr<operation>> orphans;
    {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        orphans = performer_.abandon();
    }
    orphans.clear(); // destroys handlers, and with them coroutines and their leases
}

} // namespace holdfast::io
