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
    made->schedule_turn(); // connects
    return made;
}

engine::engine(asio::any_io_executor executor, const backend& store, const locker_options& options)
    : executor_(std::move(executor)),
      backend_(store.factory().make(entropy_.seed())),
      core_(*backend_, entropy_, options, entropy_.seed()),
      transports_(*this, *backend_, executor_),
      timer_(std::make_unique<asio::steady_timer>(executor_))
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
    const core::slot_id id = operations_.add(std::move(op));
    const core::time_point now = io::now();
    wait = std::max(once ? terms->options.wait : wait, std::chrono::milliseconds(0));
    added.about = core_.acquire(id, terms->what.name(), terms->lease, wait, once, now);
    attach_cancellation(added);
    after_call(now);
}

void engine::wait_lost(core::slot_id lease, error_handler&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::lost, lease, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc::not_held);
    operation& added = *op;
    operations_.add(std::move(op));
    if (const errc reason = core_.must_stop(lease); reason != errc{})
        operations_.finish(added, reason);
    else
        attach_cancellation(added);
    after_call(io::now());
}

void engine::extend(core::slot_id lease, error_handler&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::extend, lease, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc::not_held);
    operation& added = *op;
    operations_.add(std::move(op));
    const core::time_point now = io::now();
    if (const errc reason = core_.extend(lease, now); reason != errc{})
        operations_.finish(added, reason);
    else
        attach_cancellation(added);
    after_call(now);
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
    const core::slot_id id = operations_.add(std::move(op));
    const core::time_point now = io::now();
    if (core_.release(lease, id, now)) {
        attach_cancellation(added);
    } else {
        added.set_result(release_outcome::expired);
        operations_.finish(added, errc::not_held);
    }
    after_call(now);
}

void engine::drop(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return;
    const core::time_point now = io::now();
    if (core_.drop(lease, now))
        after_call(now);
}

void engine::close(error_handler&& handler)
{
    auto op = std::make_unique<error_operation>(operation_kind::close, 0, std::move(handler));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return refuse(op, errc{});
    operation& added = *op;
    operations_.add(std::move(op));
    const core::time_point now = io::now();
    if (closed_) {
        operations_.finish(added, {});
    } else {
        attach_cancellation(added);
        core_.close(now);
    }
    after_call(now);
}

void engine::close() noexcept
{
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return;
    const core::time_point now = io::now();
    core_.close(now);
    after_call(now);
}

bool engine::alive(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return !left_to_parent_ && core_.alive(lease);
}

bool engine::held(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return !left_to_parent_ && core_.held(lease, io::now());
}

core::time_point engine::valid_until(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return core_.valid_until(lease);
}

locker_stats engine::stats()
{
    const std::lock_guard lock(mutex_);
    locker_stats s;
    core_.add_to(s);
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
    operation* const found = operations_.find(id);
    if (found == nullptr || abandoned_)
        return;
    operation& op = *found;
    const bool only_total =
        (type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
        asio::cancellation_type::none;
    const core::time_point now = io::now();
    switch (op.kind) {
    case operation_kind::acquire:
        if (!core_.cancel(op.about, only_total, now))
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
    operations_.finish(op, asio::error::operation_aborted);
    after_call(now);
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
        transports_.clear();
        timer_.reset();
        orphans = operations_.take_all();
    }
    orphans.clear(); // destroys handlers, and with them coroutines and their leases
}

} // namespace holdfast::io
