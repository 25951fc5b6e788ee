#include "simulation/process.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

class seeded_entropy final : public core::entropy {
public:
    explicit seeded_entropy(std::uint64_t seed) : source_(seed) {}

    bool fill(std::span<std::byte> out) noexcept override
    {
        for (std::byte& b : out)
            b = static_cast<std::byte>(source_.bits());
        return true;
    }

private:
    dice source_;
};

error_code code_of(breakage how)
{
    switch (how) {
    case breakage::refused:
        return asio::error::connection_refused;
    case breakage::reset:
        return asio::error::connection_reset;
    case breakage::timed_out:
        break;
    }
    return asio::error::timed_out;
}

} // namespace

process::process(std::size_t number, surroundings& world, machine_clock clock)
    : number_(number),
      world_(world),
      clock_(clock)
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
        .options = world_.settings.options});
    links_.assign(subject_->connections().size(), {});
    closed_ = false;
    settle();
}

// Its machine closes the streams; what is under way may still arrive.
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
    alarm_.clear();
    ++timer_number_;
    turn_scheduled_ = false;
}

void process::crash()
{
    world_.note(name(), "crashes");
    if (frozen_)
        wake_up();
    for (const auto& [lease, who] : leases_)
        world_.judge.given_up(global(lease));
    leases_.clear();
    stop_everything();
}

void process::freeze()
{
    world_.note(name(), "is frozen");
    frozen_ = true;
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
    time_frozen_ += slept;
    if (std::exchange(suspended_, false)) {
        clock_.suspended_for(slept);
        suspended_until_ = now;
        timer_fires_ += slept;
    }
    // A suspension is noticed when the timer's clock says so.
    world_.judge.excuse(
        number_, std::max(suspended_until_ + core::alarm::longest_sleep * 11 / 10, now + 10ms));
    for (auto& action : std::exchange(delayed_, {}))
        later(world_.chance.between(0ns, 1ms), std::move(action));
    if (alarm_.is_set()) {
        const std::uint64_t number = ++timer_number_;
        world_.time.at(timer_fires_, [this, number] {
            if (number == timer_number_)
                fire();
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
            action();
    });
}

std::uint64_t process::global(core::slot_id lease) const
{
    return (std::uint64_t(number_) << 60) | (std::uint64_t(incarnation_ & 0xffu) << 52) |
           (lease & 0xf'ffff'ffff'ffffu);
}

process::ticket process::acquire(user_of_locks& who, const wish& what)
{
    const std::uint64_t tag = ++last_tag_;
    operations_[tag] = &who;
    wishes_[tag] = {std::string(what.resource), what.terms};
    const core::slot_id wait =
        subject_->acquire(tag, what.resource, what.terms, what.wait, what.once, now());
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

bool process::release(user_of_locks& who, core::slot_id lease)
{
    const std::uint64_t tag = ++last_tag_;
    operations_[tag] = &who;
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

void process::close()
{
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
        judge.fail(property::operations, name() + " has closed, but wants to be woken");
    for (core::connection* c : subject_->connections()) {
        if (c->wants_open())
            judge.fail(property::operations, name() + " has closed, but keeps a connection");
    }
}

core::connection& process::connection_of(std::size_t index)
{
    return *subject_->connections()[index];
}

process::link* process::find(stream_id stream, std::size_t& index)
{
    for (index = 0; index < links_.size(); ++index) {
        if (links_[index].stream == stream)
            return &links_[index];
    }
    return nullptr;
}

void process::on_open(stream_id stream)
{
    std::size_t index = 0;
    if (link* const l = find(stream, index)) {
        l->open = true;
        connection_of(index).opened(now());
        settle();
    }
}

void process::on_bytes(stream_id stream, std::string_view bytes)
{
    std::size_t index = 0;
    if (find(stream, index) == nullptr)
        return;
    core::connection& c = connection_of(index);
    while (!bytes.empty() && c.wants_open()) {
        const std::span<char> space = c.read_space();
        const std::size_t n = std::min(space.size(), bytes.size());
        std::memcpy(space.data(), bytes.data(), n);
        c.received(n, now());
        bytes.remove_prefix(n);
    }
    settle();
}

void process::on_broken(stream_id stream, breakage how)
{
    std::size_t index = 0;
    if (link* const l = find(stream, index)) {
        *l = {};
        connection_of(index).closed(code_of(how), now());
        settle();
    }
}

bool process::follow(std::size_t index, core::time_point at)
{
    link& l = links_[index];
    core::connection& c = connection_of(index);
    if (c.wants_open() == (l.stream != 0))
        return false;
    if (l.stream == 0) {
        l.stream = world_.net.open(number_, index);
    } else {
        world_.net.close(std::exchange(l, {}).stream, world_.chance.chance(0.7));
        c.closed(asio::error::operation_aborted, at);
    }
    return true;
}

void process::settle()
{
    const core::time_point at = now();
    for (bool changed = true; changed;) {
        subject_->wake(at);
        changed = false;
        for (std::size_t i = 0; i < links_.size(); ++i)
            changed = follow(i, at) || changed;
    }
    report_leases();
    while (const auto e = subject_->next_effect())
        perform(*e);
    for (std::size_t i = 0; i < links_.size(); ++i) {
        if (links_[i].open && !connection_of(i).output().empty())
            schedule_turn();
    }
    arm_timer();
}

void process::report_leases()
{
    for (const auto& [lease, who] : leases_) {
        const core::time_point until = subject_->valid_until(lease);
        world_.judge.valid_until(
            global(lease), until == core::long_ago ? nanoseconds(-1) : true_time(until));
    }
}

void process::perform(const core::effect& e)
{
    using what = core::effect::what;
    switch (e.kind) {
    case what::acquired:
    case what::wait_ended:
    case what::released: {
        const auto found = operations_.find(e.tag);
        if (found == operations_.end())
            return world_.judge.fail(property::operations, name() + ": an operation ended twice");
        user_of_locks* const who = found->second;
        operations_.erase(found);
        const auto asked_for = wishes_.find(e.tag);
        if (e.kind == what::acquired) {
            const asked& w = asked_for->second;
            leases_[e.lease] = who;
            world_.judge.acquired(
                global(e.lease), {.resource = w.resource,
                                     .process = number_,
                                     .guard = w.terms.guard,
                                     .until = true_time(subject_->valid_until(e.lease)),
                                     .renews = w.terms.renews && w.terms.max_hold == forever});
        }
        if (asked_for != wishes_.end())
            wishes_.erase(asked_for);
        return who->on_effect(e);
    }
    case what::must_stop:
    case what::gone:
    case what::extended: {
        const auto found = leases_.find(e.lease);
        if (e.kind == what::must_stop)
            world_.judge.told_to_stop(global(e.lease));
        if (found == leases_.end())
            return;
        user_of_locks* const who = found->second;
        if (e.kind == what::gone)
            leases_.erase(found);
        return who->on_effect(e);
    }
    case what::closed:
        closed_ = true;
        return;
    }
}

void process::schedule_turn()
{
    if (std::exchange(turn_scheduled_, true))
        return;
    world_.time.after(
        world_.chance.between(1us, world_.settings.lateness), [this, of = incarnation_] {
            if (of == incarnation_ && !frozen_ && std::exchange(turn_scheduled_, false))
                turn();
        });
}

void process::turn()
{
    for (std::size_t i = 0; i < links_.size(); ++i) {
        core::connection& c = connection_of(i);
        if (!links_[i].open || c.output().empty())
            continue;
        // A full kernel buffer takes a part only.
        const std::string_view all = c.output();
        const bool in_part = world_.chance.chance(0.01);
        const std::size_t n = in_part ? 1 + world_.chance.below(all.size()) : all.size();
        world_.net.send(links_[i].stream, all.substr(0, n));
        c.written(n);
    }
    settle();
}

void process::arm_timer()
{
    const auto at = alarm_.plan(subject_->wake_at(), now());
    if (!at)
        return;
    timer_fires_ = std::max(world_.time.now(), true_time(*at)) +
                   world_.chance.between(1us, world_.settings.lateness);
    const std::uint64_t number = ++timer_number_;
    world_.time.at(timer_fires_, [this, number] {
        if (number == timer_number_)
            fire();
    });
}

void process::fire()
{
    if (frozen_ || subject_ == nullptr)
        return; // wake_up() sees to it
    alarm_.clear();
    if (world_.time.now() - busy_since_ > 100ms) {
        busy_since_ = world_.time.now();
        fired_ = 0;
    }
    if (++fired_ == 20'000)
        world_.judge.fail(property::operations, name() + " turns in a busy loop");
    settle();
}

} // namespace holdfast::simulation
