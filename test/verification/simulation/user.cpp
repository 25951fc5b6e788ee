#include "verification/simulation/user.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// The time by which an operation may exceed its own limit: timers and turns are late.
constexpr nanoseconds slack = 20ms;

constexpr nanoseconds connect_timeout = 2s;

} // namespace

user::user(std::size_t number, surroundings& world, process& where)
    : number_(number),
      world_(world),
      process_(where)
{}

std::string user::name() const
{
    return process_.name() + " user " + std::to_string(number_);
}

void user::after(nanoseconds delay, void (user::*step)())
{
    process_.later(delay, [this, step, of = step_] {
        if (of == step_)
            (this->*step)();
    });
}

void user::begin()
{
    doing_ = state::nothing;
    ++step_;
    ticket_ = {};
    lease_ = 0;
    extension_began_ = nanoseconds(-1);
    pause();
}

void user::hurry()
{
    if (doing_ != state::working)
        return;
    ++step_;
    after(world_.chance.between(0ns, 20ms), &user::finish);
}

void user::give_up()
{
    if (doing_ == state::waiting)
        after(world_.chance.between(0ns, world_.settings.users_do.longest_hold * 2),
            &user::give_up_waiting);
}

void user::pause()
{
    doing_ = state::nothing;
    ++step_;
    // Without a queue chance alone decides between users that ask again and again. A user that has
    // been served then stops asking, so that all others must be served.
    const bool makes_way = world_.calm && !world_.settings.queue && served_in_calm_ > 0;
    if (!world_.winding_up && !makes_way)
        after(world_.chance.between(0ns, world_.settings.users_do.longest_pause), &user::ask);
}

void user::ask()
{
    if (world_.winding_up || (process_.departing() && world_.chance.chance(0.5)))
        return;
    const habits& h = world_.settings.users_do;
    resource_ = world_.chance.below(world_.settings.resources) == 0 ? "stock:A" : "stock:B";
    terms_ = world_.settings.terms;
    if (process_.number() == 1) // one process has a different ttl
        terms_.ttl = std::min(terms_.ttl * 2, world_.settings.longest_ttl);
    if (h.differs > 0 && world_.chance.chance(h.differs)) {
        if (world_.chance.chance(0.5))
            terms_.ttl = std::min(terms_.ttl * 2, world_.settings.longest_ttl);
        if (world_.chance.chance(0.5))
            terms_.linger_ms = terms_.min_hold_ms = 0;
    }
    if (h.rests < 1 && !world_.chance.chance(h.rests))
        terms_.min_hold_ms = 0;
    terms_.drift = terms_.ttl / 100 + 2ms;
    once_ = world_.chance.chance(h.asks_once);
    const std::array<milliseconds, 4> waits{0ms, std::chrono::ceil<milliseconds>(terms_.ttl / 4),
        std::chrono::ceil<milliseconds>(terms_.ttl * 3), forever};
    wait_ = world_.calm ? forever : waits[world_.chance.below(waits.size())];
    if (world_.calm)
        once_ = false;
    began_ = asked_ = world_.time.now();
    frozen_before_ = process_.time_frozen();
    doing_ = state::waiting;
    const unsigned step = ++step_;
    world_.note(name(), "asks for " + resource_);
    const process::ticket t = process_.acquire(
        *this, {.resource = resource_, .terms = terms_, .wait = wait_, .once = once_});
    if (step != step_)
        return; // the operation has ended already
    ticket_ = t;
    if (world_.chance.chance(h.cancels))
        after(world_.chance.of_any_size(10us, terms_.ttl), &user::give_up_waiting);
}

void user::give_up_waiting()
{
    world_.note(name(), "cancels its wait");
    if (process_.cancel(ticket_, world_.chance.chance(0.2)))
        pause();
}

void user::on_effect(const core::effect& e)
{
    using effect = core::effect_kind;
    switch (e.kind) {
    case effect::acquired:
        return on_acquired(e);
    case effect::wait_ended:
        return on_wait_ended(e);
    case effect::must_stop:
        world_.note(name(), "is told to stop");
        if (doing_ == state::working && !world_.chance.chance(world_.settings.users_do.obstinate)) {
            ++step_;
            after(world_.chance.between(0ns, terms_.guard / 2), &user::finish);
        }
        return;
    case effect::extended:
        if (extension_began_ >= 0ns) {
            check_in_time(std::exchange(extension_began_, nanoseconds(-1)),
                extension_frozen_before_, process_.patience(terms_.ttl), "an extension");
        }
        return;
    case effect::released:
        check_in_time(began_, frozen_before_, process_.patience(terms_.ttl), "a release");
        if (doing_ == state::releasing)
            pause();
        return;
    case effect::gone:
    case effect::drained:
    case effect::closed:
        return;
    }
}

void user::on_acquired(const core::effect& e)
{
    world_.note(name(),
        "has " + resource_ + (e.fence ? ", token " + std::to_string(*e.fence) : std::string()));
    if (process_.departing())
        world_.judge.fail(property::operations, name() + " got a lease while its locker drains");
    doing_ = state::working;
    ++step_;
    lease_ = e.lease;
    if (world_.calm) {
        ++served_in_calm_;
        const nanoseconds waited = world_.time.now() - std::max(began_, world_.judge.calm_since());
        if (waited > world_.settings.longest_wait_in_calm())
            world_.judge.fail(property::progress, name() + " waited too long");
    }
    if (once_ || wait_ != forever)
        check_acquire_in_time();
    under_ = {.process = process_.number(),
        .asked = asked_,
        .given = world_.time.now(),
        .token = e.fence};
    version_seen_ = world_.judge.read(resource_, under_);
    work();
}

void user::on_wait_ended(const core::effect& e)
{
    world_.note(
        name(), "has not acquired " + resource_ + ": " +
                    (e.reason == errc{} ? "held by another" : make_error_code(e.reason).message()));
    if (once_ || wait_ != forever)
        check_acquire_in_time();
    // A wait without a limit ends early only if nodes refuse for good. Without faults they do not.
    else if (world_.judge.calm() && e.reason != errc::closed)
        world_.judge.fail(property::progress,
            name() + ": waiting ended with " + make_error_code(e.reason).message());
    pause();
}

void user::check_in_time(
    nanoseconds began, nanoseconds frozen_before, nanoseconds allowed, const char* operation)
{
    const nanoseconds frozen = process_.time_frozen() - frozen_before;
    // The limit counts on the clock of the process's machine. A timer that was set before a
    // suspension is late by the time that it still had to run.
    nanoseconds more = slack + frozen / 50 + process_.longest_backlog() * 2;
    if (world_.settings.burst) // a request's time starts when it fits into the socket's buffer
        more += world_.settings.burst->bound();
    if (process_.suspended_until() + core::alarm::longest_sleep >= began)
        more += core::alarm::longest_sleep;
    if (world_.time.now() - began - frozen > allowed * 101 / 100 + more)
        world_.judge.fail(property::operations, name() + ": " + operation + " took too long");
}

void user::check_acquire_in_time()
{
    const bool asked_once = once_ || wait_ == 0ms;
    check_in_time(began_, frozen_before_,
        asked_once ? connect_timeout + process_.patience(terms_.ttl) : nanoseconds(wait_),
        "an acquire");
}

// Plans what happens under the lease: one or two writes, perhaps an extension, and the end.
void user::work()
{
    const habits& h = world_.settings.users_do;
    const bool hurried = world_.calm || world_.winding_up;
    const nanoseconds whole = hurried ? world_.chance.of_any_size(100us, 20ms)
                                      : world_.chance.of_any_size(h.shortest_hold, h.longest_hold);
    after(world_.chance.between(0ns, whole), &user::write);
    if (world_.chance.chance(0.5))
        after(whole, &user::write);
    if (world_.chance.chance(h.extends)) {
        process_.later(world_.chance.between(0ns, whole), [this, of = step_] {
            if (of != step_)
                return;
            const nanoseconds now = world_.time.now();
            if (extension_began_ < 0ns) {
                extension_began_ = now;
                extension_frozen_before_ = process_.time_frozen();
            }
            if (process_.extend(lease_) != errc{} && extension_began_ == now)
                extension_began_ = nanoseconds(-1);
        });
    }
    after(whole, &user::finish);
}

// A careful user checks its lease just before it writes.
void user::write()
{
    under_.held = process_.held(lease_);
    const double careless = world_.settings.users_do.careless;
    if (!under_.held && (careless == 0 || !world_.chance.chance(careless)))
        return;
    world_.judge.write(resource_, version_seen_, under_);
    version_seen_ = world_.judge.read(resource_, under_);
}

void user::finish()
{
    extension_began_ = nanoseconds(-1);
    if (world_.chance.chance(world_.settings.users_do.drops)) {
        world_.note(name(), "drops its lease on " + resource_);
        process_.drop(std::exchange(lease_, 0));
        return pause();
    }
    world_.note(name(), "releases " + resource_);
    doing_ = state::releasing;
    ++step_;
    began_ = world_.time.now();
    frozen_before_ = process_.time_frozen();
    const core::slot_id lease = lease_;
    if (!process_.release(*this, lease))
        world_.judge.fail(property::operations, name() + " has a lease but cannot release it");
    if (world_.chance.chance(world_.settings.users_do.releases_twice) &&
        process_.release(*this, lease))
        world_.judge.fail(property::operations, name() + " released a lease twice");
}

} // namespace holdfast::simulation
