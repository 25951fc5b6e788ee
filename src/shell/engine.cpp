#include "shell/engine.hpp"

#include "shell/registry.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::shell {

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
      timer_(std::make_unique<asio::steady_timer>(executor_))
{
    for (core::connection* const c : backend_->connections())
        links_.emplace_back(*this, *c, executor_);
}

engine::~engine()
{
    if (!abandoned_)
        registry::of(executor_).remove(*this);
}

void engine::acquire(std::shared_ptr<const lock_terms> terms, std::chrono::milliseconds wait,
    bool once, acquire_handler handler)
{
    auto op = std::make_unique<acquire_operation>(
        operation::what::acquire, 0, std::move(handler), executor_, lease());
    op->set_result(lease(shared_from_this(), 0, terms, std::nullopt));
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return; // `op` goes, and the handler with it
    operation& added = *op;
    const core::slot_id id = add(std::move(op));
    const core::time_point now = shell::now();
    added.about = core_.acquire(id, terms->what.name(), terms->lease, wait, once, now);
    attach_cancellation(added);
    after_call(now);
}

void engine::wait_lost(core::slot_id lease, error_handler handler)
{
    auto op = std::make_unique<error_operation>(
        operation::what::lost, lease, std::move(handler), executor_);
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return; // `op` goes, and the handler with it
    operation& added = *op;
    add(std::move(op));
    if (const errc reason = core_.must_stop(lease); reason != errc{})
        finish(added, reason);
    else
        attach_cancellation(added);
    after_call(shell::now());
}

void engine::extend(core::slot_id lease, error_handler handler)
{
    auto op = std::make_unique<error_operation>(
        operation::what::extend, lease, std::move(handler), executor_);
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return; // `op` goes, and the handler with it
    operation& added = *op;
    add(std::move(op));
    const core::time_point now = shell::now();
    if (const errc reason = core_.extend(lease, now); reason != errc{})
        finish(added, reason);
    else
        attach_cancellation(added);
    after_call(now);
}

void engine::release(core::slot_id lease, release_handler handler)
{
    auto op = std::make_unique<release_operation>(operation::what::release, lease,
        std::move(handler), executor_, release_outcome::unconfirmed);
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return; // `op` goes, and the handler with it
    auto& added = *op;
    const core::slot_id id = add(std::move(op));
    const core::time_point now = shell::now();
    if (core_.release(lease, id, now)) {
        attach_cancellation(added);
    } else {
        added.set_result(release_outcome::expired);
        finish(added, errc::not_held);
    }
    after_call(now);
}

void engine::drop(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return;
    const core::time_point now = shell::now();
    core_.drop(lease, now);
    after_call(now);
}

void engine::close(error_handler handler)
{
    auto op =
        std::make_unique<error_operation>(operation::what::close, 0, std::move(handler), executor_);
    const std::lock_guard lock(mutex_);
    if (abandoned_)
        return; // `op` goes, and the handler with it
    operation& added = *op;
    add(std::move(op));
    const core::time_point now = shell::now();
    if (closed_) {
        finish(added, {});
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
    const core::time_point now = shell::now();
    core_.close(now);
    after_call(now);
}

bool engine::alive(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return core_.alive(lease);
}

bool engine::held(core::slot_id lease) noexcept
{
    const std::lock_guard lock(mutex_);
    return core_.held(lease, shell::now());
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

core::slot_id engine::add(std::unique_ptr<operation> op)
{
    const core::slot_id id = operations_.take();
    op->id = id;
    if (op->kind == operation::what::lost || op->kind == operation::what::extend)
        list_at_lease(*op);
    operations_[id] = std::move(op);
    return id;
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
    std::unique_ptr<operation>* const found = operations_.find(id);
    if (found == nullptr || abandoned_)
        return;
    operation& op = **found;
    const bool only_total =
        (type & (asio::cancellation_type::terminal | asio::cancellation_type::partial)) ==
        asio::cancellation_type::none;
    const core::time_point now = shell::now();
    switch (op.kind) {
    case operation::what::acquire:
        if (!core_.cancel(op.about, only_total, now))
            return;
        static_cast<acquire_operation&>(op).set_result(lease());
        break;
    case operation::what::extend:
    case operation::what::release:
        if (only_total)
            return;
        break;
    case operation::what::lost:
    case operation::what::close:
        break;
    }
    finish(op, asio::error::operation_aborted);
    after_call(now);
}

operation* engine::find(core::slot_id id, operation::what kind) noexcept
{
    std::unique_ptr<operation>* const found = operations_.find(id);
    return found != nullptr && (*found)->kind == kind ? found->get() : nullptr;
}

void engine::list_at_lease(operation& op)
{
    const auto index = core::slot_index(op.about);
    if (index >= at_lease_.size())
        at_lease_.resize(index + std::size_t(1), nullptr);
    op.next = at_lease_[index];
    if (op.next != nullptr)
        op.next->previous = &op;
    at_lease_[index] = &op;
}

// Takes an operation out of the books; it is delivered outside the mutex.
void engine::finish(operation& op, error_code ec)
{
    if (op.kind == operation::what::lost || op.kind == operation::what::extend) {
        if (op.next != nullptr)
            op.next->previous = op.previous;
        (op.previous != nullptr ? op.previous->next : at_lease_[core::slot_index(op.about)]) =
            op.next;
    }
    op.set_error(ec);
    std::unique_ptr<operation>& slot = operations_[op.id];
    ready_.push_back(std::move(slot));
    operations_.give_back(op.id);
}

void engine::finish_at_lease(core::slot_id lease, bool only_extensions, error_code ec)
{
    const auto index = core::slot_index(lease);
    operation* op = index < at_lease_.size() ? at_lease_[index] : nullptr;
    while (op != nullptr) {
        operation& each = *std::exchange(op, op->next);
        if (each.about == lease && (!only_extensions || each.kind == operation::what::extend))
            finish(each, ec);
    }
}

// Lets the core hear what has happened, until nothing more comes of it; then performs what it has
// decided.
void engine::settle(core::time_point now)
{
    bool changed = true;
    while (changed) {
        core_.wake(now);
        changed = false;
        for (link& l : links_)
            changed = l.follow(now) || changed;
    }
    while (const auto e = core_.next_effect())
        perform(*e);
    if (std::any_of(links_.begin(), links_.end(), [](const link& l) { return l.has_output(); }))
        schedule_turn();
    arm_timer();
}

void engine::perform(const core::effect& e)
{
    using what = core::effect::what;
    switch (e.kind) {
    case what::acquired:
        if (operation* const op = find(e.tag, operation::what::acquire)) {
            lease& granted = static_cast<acquire_operation&>(*op).result<lease>();
            granted.id_ = e.lease;
            granted.fence_ = e.fence;
            finish(*op, {});
        }
        break;
    case what::wait_ended:
        if (operation* const op = find(e.tag, operation::what::acquire)) {
            static_cast<acquire_operation&>(*op).set_result(lease());
            finish(*op, e.reason == errc{} ? error_code() : make_error_code(e.reason));
        }
        break;
    case what::must_stop:
        finish_at_lease(e.lease, false, errc::lease_lost);
        break;
    case what::gone:
        finish_at_lease(e.lease, false, errc::not_held);
        break;
    case what::extended:
        finish_at_lease(
            e.lease, true, e.reason == errc{} ? error_code() : make_error_code(e.reason));
        break;
    case what::released:
        if (operation* const op = find(e.tag, operation::what::release)) {
            static_cast<release_operation&>(*op).set_result(e.outcome);
            finish(*op, {});
        }
        break;
    case what::closed:
        closed_ = true;
        for (std::uint32_t i = 0; i < operations_.capacity(); ++i) {
            if (operation* const op = find(operations_.id_at(i), operation::what::close))
                finish(*op, {});
        }
        break;
    }
}

// One timer for everything. It is left alone when it fires early anyway: that costs one wake-up,
// where moving it would cost as much for every operation.
void engine::arm_timer()
{
    const core::time_point wanted = core_.wake_at();
    if (wanted == core::never && (links_.empty() || closed_) && timer_at_ != core::never) {
        timer_at_ = core::never;
        timer_->cancel(); // nothing else may be keeping the context running
        return;
    }
    if (wanted >= timer_at_)
        return;
    timer_at_ = wanted;
    timer_->expires_at(to_steady(wanted));
    timer_->async_wait([self = shared_from_this()](error_code ec) {
        if (ec)
            return;
        self->enter([&] { self->timer_at_ = core::never; }); // settle() does the rest
    });
}

void engine::schedule_turn()
{
    if (turn_scheduled_ || abandoned_)
        return;
    turn_scheduled_ = true;
    asio::post(executor_, [self = shared_from_this()] { self->turn(); });
}

void engine::turn()
{
    enter([&] {
        turn_scheduled_ = false;
        const core::time_point now = shell::now();
        for (link& l : links_)
            l.flush(now);
    });
}

// After a call of a user: everything as always, but nothing is delivered before a turn of its own.
void engine::after_call(core::time_point now)
{
    settle(now);
    if (!ready_.empty())
        schedule_turn();
}

void engine::deliver_ready(std::unique_lock<std::mutex>& lock)
{
    if (ready_.empty())
        return;
    std::vector<std::unique_ptr<operation>> batch = std::move(delivering_);
    batch.swap(ready_);
    lock.unlock();

    // A handler may throw out of here; the others must still have their turn.
    struct rest {
        engine& self;
        std::vector<std::unique_ptr<operation>>& batch;
        std::size_t done = 0;
        ~rest()
        {
            const std::lock_guard again(self.mutex_);
            if (done < batch.size()) {
                self.ready_.insert(self.ready_.begin(),
                    std::make_move_iterator(batch.begin() + static_cast<std::ptrdiff_t>(done)),
                    std::make_move_iterator(batch.end()));
                self.schedule_turn();
            }
            batch.clear();
            self.delivering_ = std::move(batch);
        }
    } progress{*this, batch};
    while (progress.done < batch.size()) {
        const std::unique_ptr<operation> op = std::move(batch[progress.done++]);
        op->deliver();
    }
}

void engine::abandon() noexcept
{
    std::vector<std::unique_ptr<operation>> orphans;
    {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        for (link& l : links_)
            l.close();
        links_.clear();
        timer_.reset();
        for (std::uint32_t i = 0; i < operations_.capacity(); ++i) {
            if (auto* const op = operations_.find(operations_.id_at(i)))
                orphans.push_back(std::move(*op));
        }
        for (auto& op : ready_)
            orphans.push_back(std::move(op));
        ready_.clear();
    }
    orphans.clear(); // destroys handlers, and with them coroutines and their leases
}

} // namespace holdfast::shell
