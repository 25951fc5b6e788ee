#include "verification/simulation/process.hpp"

#include "verification/simulation/seeded_entropy.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

using namespace std::chrono_literals;

process::process(std::size_t number, surroundings& world, machine_clock clock)
    : number_(number),
      world_(world),
      clock_(clock),
      loop_(world.time)
{}

process::~process() = default;

core::time_point process::now() const
{
    return clock_.boot(world_.time.now());
}

nanoseconds process::true_time(core::time_point when) const
{
    return clock_.when_boot_shows(when);
}

void process::start()
{
    ++incarnation_;
    entropy_ = std::make_unique<seeded_entropy>(world_.chance.bits());
    subject_ = world_.make_subject({.nodes = world_.settings.nodes,
        .random = entropy_.get(),
        .jitter_seed = world_.chance.bits(),
        .node_timeout = world_.settings.node_timeout,
        .silence_timeout = world_.settings.silence_timeout,
        .most_requests = world_.settings.most_requests,
        .most_bytes = world_.settings.most_bytes,
        .options = world_.settings.options,
        .fence = world_.settings.fence,
        .true_time = [this] { return world_.time.now(); },
        .on_attempt =
            [this] {
                loop_.spend(world_.settings.process_work.attempt);
            }});
    links_.assign(subject_->connections().size(), {});
    closed_ = false;
    departure_ = {};
    settle();
}

// Its machine closes the streams. Bytes under way may still arrive.
void process::stop_everything()
{
    for (link& l : links_) {
        if (l.stream != 0)
            world_.net.close(l.stream, world_.chance.chance(0.7));
    }
    links_.clear();
    subject_.reset();
    operations_.clear();
    wishes_.clear();
    delayed_.clear();
    loop_.forget_all();
    alarm_.clear();
    ++timer_number_;
    turn_scheduled_ = false;
}

void process::crash()
{
    world_.note(name(), "crashes");
    if (frozen_)
        wake_up();
    for (const auto& [lease, kept] : leases_)
        world_.judge.given_up(global(lease));
    leases_.clear();
    stop_everything();
}

void process::freeze()
{
    world_.note(name(), "is frozen");
    frozen_ = true;
    loop_.stand_still();
    frozen_since_ = world_.time.now();
    world_.judge.excuse(number_, nanoseconds::max());
}

void process::suspend()
{
    freeze();
    suspended_ = true;
}

void process::wake_up()
{
    if (!frozen_)
        return;
    const nanoseconds now = world_.time.now();
    const nanoseconds slept = now - frozen_since_;
    world_.note(name(), suspended_ ? "wakes from suspension" : "goes on");
    frozen_ = false;
    loop_.go_on();
    time_frozen_ += slept;
    if (std::exchange(suspended_, false)) {
        clock_.suspended_for(slept);
        suspended_until_ = now;
        timer_fires_ += slept;
    }
    // The process notices a suspension when its timer fires.
    world_.judge.excuse(
        number_, std::max(suspended_until_ + core::alarm::longest_sleep * 11 / 10, now + 10ms));
    for (auto& action : std::exchange(delayed_, {}))
        later(world_.chance.between(0ns, 1ms), std::move(action));
    if (alarm_.is_set()) {
        const std::uint64_t number = ++timer_number_;
        world_.time.at(timer_fires_, [this, number] {
            if (number == timer_number_ && !frozen_)
                loop_.run([this] { fire(); });
        });
    }
    if (std::exchange(turn_scheduled_, false))
        schedule_turn();
    world_.net.retry();
}

void process::later(nanoseconds delay, std::function<void()> action)
{
    world_.time.after(delay, [this, of = incarnation_, action = std::move(action)]() mutable {
        if (of != incarnation_ || subject_ == nullptr)
            return;
        if (frozen_)
            delayed_.push_back(std::move(action));
        else
            loop_.run(std::move(action));
    });
}

std::uint64_t process::global(core::slot_id lease) const
{
    return (std::uint64_t(number_) << 60) | (std::uint64_t(incarnation_ & 0xffu) << 52) |
           (lease & 0xf'ffff'ffff'ffffu);
}

process::ticket process::acquire(user_of_locks& user, const wish& w)
{
    const std::uint64_t tag = ++last_tag_;
    operations_[tag] = &user;
    loop_.spend(world_.settings.process_work.operation);
    wishes_[tag] = {std::string(w.resource), w.terms, world_.time.now()};
    const core::slot_id wait = subject_->acquire(tag, w.resource, w.terms, w.wait, w.once, now());
    settle();
    return {wait, tag};
}

bool process::cancel(const ticket& t, bool only_if_unsent)
{
    const bool cancelled = subject_->cancel(t.wait, only_if_unsent, now());
    if (cancelled) {
        operations_.erase(t.tag);
        wishes_.erase(t.tag);
    }
    settle();
    return cancelled;
}

bool process::release(user_of_locks& user, core::slot_id lease)
{
    const std::uint64_t tag = ++last_tag_;
    operations_[tag] = &user;
    loop_.spend(world_.settings.process_work.operation);
    world_.judge.given_up(global(lease));
    const bool begun = subject_->release(lease, tag, now());
    if (!begun)
        operations_.erase(tag);
    settle();
    return begun;
}

void process::drop(core::slot_id lease)
{
    world_.judge.given_up(global(lease));
    leases_.erase(lease);
    subject_->drop(lease, now());
    settle();
}

errc process::extend(core::slot_id lease)
{
    const errc refused = subject_->extend(lease, now());
    settle();
    return refused;
}

bool process::held(core::slot_id lease)
{
    return subject_->held(lease, now());
}

void process::depart(core::duration limit, std::function<void()> closed)
{
    departure_.begin(std::move(closed));
    drain(limit);
}

void process::drain(core::duration limit)
{
    const auto in_ms = std::chrono::ceil<std::chrono::milliseconds>(limit);
    world_.note(name(), "drains for " + std::to_string(in_ms.count()) + " ms");
    departure_.stop_at(now() + in_ms);
    subject_->drain(in_ms, now());
    settle();
}

// Nothing is held, and the time for that is kept. A process that was frozen may be late.
void process::check_drained()
{
    referee& judge = world_.judge;
    for (const auto& [lease, kept] : leases_) {
        if (subject_->held(lease, now()))
            judge.fail(property::operations, name() + " has drained, but holds a lease");
    }
    const core::duration late = 20ms + longest_backlog() * 2;
    if (departure_.drained() && time_frozen_ == 0ns &&
        now() - late > departure_.stops_at() + world_.settings.terms.guard)
        judge.fail(property::operations, name() + " drained for too long");
}

void process::close()
{
    departure_.stop_at(now());
    subject_->close(now());
    settle();
}

void process::check_closed()
{
    referee& judge = world_.judge;
    if (!closed_)
        judge.fail(property::operations, name() + " has not closed");
    if (!operations_.empty())
        judge.fail(property::operations, name() + " has closed, but an operation has not ended");
    if (subject_->wake_at() != core::never)
        judge.fail(property::operations, name() + " has closed, but has a timer set");
    for (core::connection* c : subject_->connections()) {
        if (c->wants_open())
            judge.fail(property::operations, name() + " has closed, but keeps a connection");
    }
}

} // namespace holdfast::simulation
