#include "io/performer.hpp"

#include "io/clock.hpp"
#include "io/process_identity.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::io {

namespace {

// A turn runs handlers for so long; then other work of the context may run.
constexpr core::duration slice = std::chrono::microseconds(500);

} // namespace

performer::performer(transport_owner& owner, const asio::any_io_executor& executor,
    const holdfast::backend& store, const locker_options& options)
    : guarded_(owner),
      executor_(executor),
      backend_(store.factory().make(entropy_.seed())),
      core_(*backend_, entropy_, options, entropy_.seed()),
      transports_(owner, *backend_, executor_),
      timer_(std::make_unique<asio::steady_timer>(executor_)),
      inspections_(backend_->inspection(), operations_),
      observers_(executor_, options)
{
    const core::time_point now = io::now();
    follow_wall_clock(now);
    inspections_.introduce(now);
}

// The wall clock may be set at any time. To the second is enough, and rarely is cheap enough.
void performer::follow_wall_clock(core::time_point now) noexcept
{
    if (wall_clock_read_ != core::long_ago && now - wall_clock_read_ < std::chrono::seconds(1))
        return;
    wall_clock_read_ = now;
    core_.set_wall_clock(wall_clock() - now.time_since_epoch());
}

void performer::settle(core::time_point now)
{
    follow_wall_clock(now);
    late_ = core_.note_lag(operations_.lag(now));
    core::time_point heard = now;
    if (core_.wake_at() <= now) {
        transports_.flush(now); // a request that was not sent yet must not time out
        heard = transports_.heard_until(now);
    }
    do
        core_.wake(now, heard);
    while (transports_.follow(now));
    perform_effects();
    if (transports_.has_output())
        schedule_turn();
    arm_timer(now);
}

void performer::perform_effects()
{
    while (const auto e = core_.next_effect())
        perform(*e);
    if (!core_.notes().empty())
        observers_.tell(core_.notes(), backend_->nodes());
    inspections_.deliver();
}

void performer::perform(const core::effect& e)
{
    switch (e.kind) {
    case core::effect_kind::acquired:
        if (operation* const op = operations_.find(e.tag, operation_kind::acquire)) {
            lease& granted = static_cast<acquire_operation&>(*op).result<lease>();
            granted.id_ = e.lease;
            granted.fence_ = e.fence;
            operations_.finish(*op, {});
        }
        break;
    case core::effect_kind::wait_ended:
        if (operation* const op = operations_.find(e.tag, operation_kind::acquire)) {
            static_cast<acquire_operation&>(*op).set_result(lease());
            operations_.finish(*op, e.reason == errc{} ? error_code() : make_error_code(e.reason));
        }
        break;
    case core::effect_kind::must_stop:
        operations_.finish_at_lease(e.lease, false, errc::lease_lost);
        break;
    case core::effect_kind::gone:
        operations_.finish_at_lease(e.lease, false, errc::not_held);
        break;
    case core::effect_kind::extended:
        operations_.finish_at_lease(
            e.lease, true, e.reason == errc{} ? error_code() : make_error_code(e.reason));
        break;
    case core::effect_kind::released:
        if (operation* const op = operations_.find(e.tag, operation_kind::release)) {
            static_cast<release_operation&>(*op).set_result(e.outcome);
            operations_.finish(*op, {});
        }
        break;
    case core::effect_kind::drained:
        operations_.finish_all(operation_kind::drain, {});
        break;
    case core::effect_kind::closed:
        closed_ = true;
        operations_.finish_all(operation_kind::close, {});
        break;
    }
}

void performer::arm_timer(core::time_point now)
{
    const core::time_point wanted = core_.wake_at();
    if (wanted == core::never && (transports_.empty() || closed_) && alarm_.is_set()) {
        alarm_.clear();
        timer_->cancel(); // the timer may be the last work of the context
        return;
    }
    const auto at = alarm_.plan(wanted, now);
    if (!at)
        return;
    timer_->expires_at(observers_.to_steady(*at));
    timer_->async_wait(guarded_([this](error_code ec) {
        if (!ec)
            alarm_.clear(); // settle() follows
    }));
}

void performer::schedule_turn()
{
    if (std::exchange(turn_scheduled_, true))
        return;
    auto turn = guarded_([this](error_code) {
        turn_scheduled_ = false;
        transports_.flush(io::now());
    });
    asio::post(executor_, asio::append(std::move(turn), error_code()));
}

void performer::after_call(core::time_point now)
{
    perform_effects();
    if (operations_.has_finished() || closed_ || core_.wake_at() <= now || transports_.has_output())
        schedule_turn();
    else
        arm_timer(now);
}

// Runs the handlers of finished operations, and of operations that these handlers finish. So a
// lease can be transferred many times in one turn of the event loop.
//
// No handler is delayed by another that takes long or throws: before a handler runs, a turn is
// scheduled for the rest, which another thread can take. A handler that throws ends this turn: an
// executor may store the exception until then, and can store only one.
void performer::deliver_finished(std::unique_lock<std::mutex>& lock)
{
    if (!operations_.has_finished())
        return;
    bool thrown = false;
    const core::time_point end = io::now() + slice;
    do {
        std::unique_ptr<operation> op = operations_.next_finished();
        if (operations_.has_finished() ||
            late_) // in the next turn, the core learns that this is over
            schedule_turn();
        lock.unlock();
        const std::size_t before = handlers_thrown;
        deliver(std::move(op));
        thrown = handlers_thrown != before;
        lock.lock();
    } while (!thrown && operations_.has_finished() && io::now() < end);
    if (operations_.has_finished())
        schedule_turn();
}

performer::orphans performer::abandon() noexcept
{
    guarded_.dismiss();
    transports_.clear();
    timer_.reset();
    return {operations_.take_all(), observers_.stop()};
}

} // namespace holdfast::io
