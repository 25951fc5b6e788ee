// The turns of an engine: what comes of what has happened, and the handlers that are told.
#include "io/engine.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::io {

namespace {

// Whatever keeps sending must not keep timeouts from being judged for longer.
constexpr core::duration longest_lag = std::chrono::seconds(1);

constexpr std::size_t enough = 64; // handlers; then others of the execution context have their turn

} // namespace

// Lets the core hear what has happened, until nothing more comes of it; then performs what it has
// decided.
void engine::settle(core::time_point now)
{
    core::time_point heard = now;
    if (core_.wake_at() <= now) {
        for (link& l : links_)
            l.flush(now); // what waits for us has not been asked yet
        heard = heard_until(now);
    }
    bool changed = true;
    while (changed) {
        core_.wake(now, heard);
        changed = false;
        for (link& l : links_)
            changed = l.follow(now) || changed;
    }
    perform_effects();
    if (has_output())
        schedule_turn();
    arm_timer(now);
}

// Until when all that arrived has been read. A timeout that is due is not judged before that.
core::time_point engine::heard_until(core::time_point now)
{
    core::time_point heard = now;
    for (const link& l : links_)
        heard = std::min(heard, l.read_until(now));
    if (heard < now && !confirming_arrivals_) {
        for (link& l : links_)
            l.note_empty(now);
        confirm_arrivals();
    }
    return std::max(heard, now - longest_lag);
}

void engine::confirm_arrivals()
{
    confirming_arrivals_ = true;
    asio::post(executor_, [self = shared_from_this()] {
        self->enter([&] {
            self->confirming_arrivals_ = false;
            for (link& l : self->links_)
                l.confirm_empty();
        });
    });
}

void engine::perform_effects()
{
    while (const auto e = core_.next_effect())
        perform(*e);
}

void engine::perform(const core::effect& e)
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
    case core::effect_kind::closed:
        closed_ = true;
        operations_.finish_all(operation_kind::close, {});
        break;
    }
}

void engine::arm_timer(core::time_point now)
{
    const core::time_point wanted = core_.wake_at();
    if (wanted == core::never && (links_.empty() || closed_) && alarm_.is_set()) {
        alarm_.clear();
        timer_->cancel(); // nothing else may be keeping the context running
        return;
    }
    const auto at = alarm_.plan(wanted, now);
    if (!at)
        return;
    timer_->expires_at(to_steady(*at));
    timer_->async_wait([self = shared_from_this()](error_code ec) {
        if (ec)
            return;
        self->enter([&] { self->alarm_.clear(); }); // settle() does the rest
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
        const core::time_point now = io::now();
        for (link& l : links_)
            l.flush(now);
    });
}

// After a call of a user. What is left to do, and to tell, has a turn of its own.
void engine::after_call(core::time_point now)
{
    perform_effects();
    if (operations_.has_finished() || closed_ || core_.wake_at() <= now || has_output())
        schedule_turn();
    else
        arm_timer(now);
}

// Runs the handlers of what is finished, and of what these finish in their turn: a lease can so
// pass through many hands without a turn of the loop for each.
//
// No handler waits behind another that takes long or throws: before one runs, what is left has a
// turn of its own, in which another thread finds it. A handler that throws ends this turn, as an
// executor may keep the exception until then, and has no room for two.
void engine::deliver_finished(std::unique_lock<std::mutex>& lock)
{
    bool thrown = false;
    for (std::size_t ran = 0; ran < enough && !thrown && operations_.has_finished(); ++ran) {
        std::unique_ptr<operation> op = operations_.next_finished();
        if (operations_.has_finished())
            schedule_turn();
        lock.unlock();
        const std::size_t before = handlers_thrown;
        deliver(std::move(op));
        thrown = handlers_thrown != before;
        lock.lock();
    }
    if (operations_.has_finished())
        schedule_turn();
}

} // namespace holdfast::io
