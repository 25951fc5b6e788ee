#include "io/errand_performer.hpp"

#include "io/clock.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::io {

recipes::patience patience_of(std::chrono::milliseconds wait, bool once)
{
    return {.once = once,
        .until =
            once ? core::never : core::later(now(), std::max(wait, std::chrono::milliseconds(0)))};
}

errand_performer::errand_performer(
    std::shared_ptr<const recipe_locks> locks, std::unique_ptr<recipes::errand> work)
    : locks_(std::move(locks)),
      errand_(std::move(work)),
      timer_(locks_->strand)
{}

void errand_performer::begin()
{
    if (over_)
        return; // cancelled
    recipes::steps wanted;
    errand_->begin(now(), wanted);
    perform(wanted);
}

void errand_performer::cancel(error_code why)
{
    if (!over_)
        finish(why, 0, lease());
}

bool errand_performer::held(std::size_t lock) const
{
    const auto found = leases_.find(lock);
    return found != leases_.end() && found->second.held();
}

std::optional<std::uint64_t> errand_performer::fence_of(std::size_t lock) const
{
    const auto found = leases_.find(lock);
    return found != leases_.end() ? found->second.fence() : std::nullopt;
}

lease errand_performer::take(std::size_t lock)
{
    auto taken = leases_.extract(lock);
    return taken ? std::move(taken.mapped()) : lease();
}

void errand_performer::perform(const recipes::steps& wanted)
{
    using kind = recipes::step::kind;
    for (const recipes::step& s : wanted) {
        if (over_)
            return;
        switch (s.what) {
        case kind::try_lock:
        case kind::wait_lock:
            ask(s);
            break;
        case kind::drop:
            drop(s.lock);
            break;
        case kind::wake:
            wake(s.until);
            break;
        case kind::succeed:
            finish({}, s.lock, take(s.lock));
            break;
        case kind::succeed_with_all:
            finish({}, 0, take(0));
            break;
        case kind::give_up:
            finish(s.why, 0, lease());
            break;
        }
    }
}

void errand_performer::ask(const recipes::step& s)
{
    const auto asked = std::make_shared<asking>();
    asked->waits = s.what == recipes::step::kind::wait_lock;
    asked_[s.lock] = asked;
    auto answer = asio::bind_cancellation_slot(asked->stop.slot(),
        asio::bind_executor(locks_->strand,
            [self = shared_from_this(), asked, lock = s.lock](error_code why, lease given) {
                self->answered(lock, *asked, why, std::move(given));
            }));
    const lock& which = locks_->locks[s.lock];
    auto left = forever;
    if (s.until != core::never)
        left = std::max(std::chrono::ceil<std::chrono::milliseconds>(s.until - now()), {});
    if (asked->waits)
        which.acquire(left, std::move(answer));
    else
        recipe_access::try_acquire(which, left, std::move(answer));
}

void errand_performer::answered(
    std::size_t lock, const asking& which, error_code why, lease&& given)
{
    if (over_ || which.dropped)
        return; // what is given is released by its destructor
    asked_.erase(lock);
    recipes::steps wanted;
    if (given) {
        leases_[lock] = std::move(given);
        errand_->granted(lock, now(), *this, wanted);
    } else {
        // In a child process, a lease that was granted before the fork is none.
        const bool is_parents = which.waits && !why;
        errand_->refused(lock, is_parents ? make_error_code(errc::closed) : why, now(), wanted);
    }
    perform(wanted);
}

void errand_performer::drop(std::size_t lock)
{
    if (auto node = asked_.extract(lock))
        stop(node.mapped());
    leases_.erase(lock);
}

// The answer may come inside this call.
void errand_performer::stop(const std::shared_ptr<asking>& each)
{
    each->dropped = true;
    each->stop.emit(asio::cancellation_type::terminal);
}

void errand_performer::wake(recipes::time_point when)
{
    timer_.expires_at(to_steady(when));
    timer_.async_wait([self = shared_from_this(), mine = ++wakes_](error_code) {
        if (self->over_ || mine != self->wakes_)
            return;
        recipes::steps wanted;
        self->errand_->woken(now(), wanted);
        self->perform(wanted);
    });
}

void errand_performer::finish(error_code why, std::size_t lock, lease result)
{
    over_ = true;
    const auto self = shared_from_this();
    errand_->end();
    timer_.cancel();
    for (const auto& [number, each] : std::exchange(asked_, {}))
        stop(each);
    done(why, lock, std::move(result));
}

void lease_errand::start(std::shared_ptr<const recipe_locks> locks,
    std::unique_ptr<recipes::errand> work, handler&& told)
{
    const auto errand =
        std::make_shared<lease_errand>(std::move(locks), std::move(work), std::move(told));
    // The slot may outlive the errand, and even its context: it must not own the strand.
    if (auto slot = errand->told_.slot(); slot.is_connected())
        slot.assign([weak = std::weak_ptr(errand)](asio::cancellation_type) {
            if (const auto alive = weak.lock())
                asio::post(
                    alive->strand(), [alive] { alive->cancel(asio::error::operation_aborted); });
        });
    asio::post(errand->strand(), [errand] { errand->begin(); });
}

lease_errand::lease_errand(std::shared_ptr<const recipe_locks> locks,
    std::unique_ptr<recipes::errand> work, handler&& told)
    : errand_performer(std::move(locks), std::move(work)),
      told_(std::move(told))
{}

void lease_errand::done(error_code why, std::size_t, lease result)
{
    release_rest();
    told_.complete(why, std::move(result));
}

} // namespace holdfast::io
