// The part of a process that stands for the library's I/O layer: streams, effects, turns, timer.
#include "verification/simulation/process.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

// The leases checked in one turn. Only in a burst are there more.
constexpr std::size_t most_reported = 64;

// A peer that keeps sending must not delay the judgement of timeouts for longer than this.
constexpr core::duration longest_lag = 1s;

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

core::connection& process::connection_of(std::size_t index) const
{
    return *subject_->connections()[index];
}

bool process::has_output() const
{
    for (std::size_t i = 0; subject_ && i < links_.size(); ++i) {
        if (links_[i].open && !connection_of(i).output().empty())
            return true;
    }
    return false;
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
    loop_.run([this, stream] {
        std::size_t index = 0;
        if (link* const l = find(stream, index)) {
            l->open = true;
            connection_of(index).opened(now());
            settle();
        }
    });
}

void process::on_bytes(stream_id stream, std::string_view bytes)
{
    std::size_t index = 0;
    link* const l = find(stream, index);
    if (l == nullptr)
        return;
    l->arrivals.push_back({now(), bytes.size()});
    l->arrived += bytes;
    if (l->arrivals.size() == 1) // else a read is already planned
        loop_.run([this, stream] { read(stream); });
}

void process::read(stream_id stream)
{
    std::size_t index = 0;
    link* const l = find(stream, index);
    if (l == nullptr || l->arrived.empty())
        return;
    core::connection& c = connection_of(index);
    const process_costs& costs = world_.settings.process_work;
    const std::size_t most = std::min(l->arrived.size(), costs.reads_at_once);
    std::string_view bytes = std::string_view(l->arrived).substr(0, most);
    if (!costs.none())
        loop_.spend(costs.of_input(bytes));
    while (!bytes.empty() && c.wants_open()) {
        const std::span<char> space = c.read_space();
        const std::size_t n = std::min(space.size(), bytes.size());
        std::memcpy(space.data(), bytes.data(), n);
        c.received(n, now());
        bytes.remove_prefix(n);
    }
    l->arrived.erase(0, most);
    for (std::size_t left = most; left > 0;) {
        arrival& first = l->arrivals.front();
        const std::size_t n = std::min(left, first.bytes);
        left -= n;
        first.bytes -= n;
        if (first.bytes == 0)
            l->arrivals.pop_front();
    }
    if (!l->arrived.empty())
        loop_.run([this, stream] { read(stream); });
    settle();
}

void process::on_broken(stream_id stream, breakage how)
{
    loop_.run([this, stream, how] {
        std::size_t index = 0;
        if (link* const l = find(stream, index)) {
            *l = {};
            connection_of(index).closed(code_of(how), now());
            settle();
        }
    });
}

void process::on_writable(stream_id stream)
{
    loop_.run([this, stream] {
        std::size_t index = 0;
        if (link* const l = find(stream, index)) {
            l->full = false;
            flush(index);
            settle();
        }
    });
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
    core::time_point heard = at;
    if (subject_->wake_at() <= at) {
        for (std::size_t i = 0; i < links_.size(); ++i)
            flush(i); // a timeout must not end requests that were never sent
        heard = heard_until(at);
    }
    for (bool changed = true; changed;) {
        subject_->wake(at, heard);
        changed = false;
        for (std::size_t i = 0; i < links_.size(); ++i)
            changed = follow(i, at) || changed;
    }
    report_leases();
    while (const auto e = subject_->next_effect())
        perform(*e);
    pay_for_output();
    for (std::size_t i = 0; i < links_.size(); ++i) {
        if (links_[i].open && !links_[i].full && !connection_of(i).output().empty())
            schedule_turn();
    }
    arm_timer();
    if (longest_backlog() > 0ns)
        world_.judge.late(number_, longest_backlog());
}

// The time up to which all bytes that arrived have been read. A timeout that falls later is not
// judged yet.
core::time_point process::heard_until(core::time_point at) const
{
    core::time_point heard = at;
    for (const link& l : links_) {
        if (!l.arrivals.empty())
            heard = std::min(heard, l.arrivals.front().when - 1ns);
    }
    return std::max(heard, at - longest_lag);
}

// Spends the cost of encoding the output that was added since the last call.
void process::pay_for_output()
{
    const process_costs& costs = world_.settings.process_work;
    if (costs.none())
        return;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const std::string_view all = connection_of(i).output();
        if (all.size() > links_[i].encoded)
            loop_.spend(costs.of_output(all.substr(links_[i].encoded)));
        links_[i].encoded = all.size();
    }
}

void process::report_leases()
{
    const core::time_point at = now();
    auto next = leases_.lower_bound(next_reported_);
    for (std::size_t n = std::min(leases_.size(), most_reported); n > 0; --n) {
        if (next == leases_.end())
            next = leases_.begin();
        auto& [lease, kept] = *next++;
        const core::time_point until = subject_->valid_until(lease);
        if (until == kept.until && until > at)
            continue;
        kept.until = until;
        world_.judge.valid_until(
            global(lease), until == core::long_ago ? nanoseconds(-1) : true_time(until));
    }
    next_reported_ = next == leases_.end() ? 0 : next->first;
}

void process::perform(const core::effect& e)
{
    switch (e.kind) {
    case core::effect_kind::acquired:
    case core::effect_kind::wait_ended:
    case core::effect_kind::released: {
        const auto found = operations_.find(e.tag);
        if (found == operations_.end())
            return world_.judge.fail(property::operations, name() + ": an operation ended twice");
        user_of_locks* const user = found->second;
        operations_.erase(found);
        loop_.spend(world_.settings.process_work.operation);
        const auto asked_for = wishes_.find(e.tag);
        if (e.kind == core::effect_kind::acquired) {
            const asked& w = asked_for->second;
            leases_[e.lease] = {.user = user};
            const auto decided = subject_->decided(e.lease);
            const nanoseconds until = true_time(subject_->valid_until(e.lease));
            // A lease may be granted when hardly more than the guard time is left. It is over
            // before a renewal is answered.
            const bool may_be_renewed =
                until - world_.time.now() >= w.terms.guard + patience(w.terms.ttl);
            world_.judge.acquired(global(e.lease),
                {.resource = w.resource,
                    .process = number_,
                    .asked = w.when,
                    .nodes_asked = subject_->asked(e.lease).value_or(w.when),
                    .decided = decided ? true_time(*decided) : w.when,
                    .token = e.fence,
                    .guard = w.terms.guard,
                    .until = until,
                    .renews = w.terms.renews && may_be_renewed && w.terms.max_hold == forever,
                    .min_hold = std::chrono::milliseconds(w.terms.min_hold_ms)});
        }
        if (asked_for != wishes_.end())
            wishes_.erase(asked_for);
        return user->on_effect(e);
    }
    case core::effect_kind::must_stop:
    case core::effect_kind::gone:
    case core::effect_kind::extended: {
        const auto found = leases_.find(e.lease);
        if (e.kind == core::effect_kind::must_stop)
            world_.judge.told_to_stop(global(e.lease), departure_.stops(now()));
        if (found == leases_.end())
            return;
        user_of_locks* const user = found->second.user;
        if (e.kind == core::effect_kind::gone)
            leases_.erase(found);
        return user->on_effect(e);
    }
    case core::effect_kind::drained:
        check_drained();
        return later(0ns, [this] {
            if (!closed_)
                close();
        });
    case core::effect_kind::closed:
        closed_ = true;
        return departure_.has_closed();
    }
}

void process::schedule_turn()
{
    if (std::exchange(turn_scheduled_, true))
        return;
    world_.time.after(
        world_.chance.between(1us, world_.settings.lateness), [this, of = incarnation_] {
            if (of == incarnation_ && !frozen_ && turn_scheduled_)
                loop_.run([this] {
                    turn_scheduled_ = false;
                    turn();
                });
        });
}

void process::turn()
{
    for (std::size_t i = 0; i < links_.size(); ++i)
        flush(i);
    settle();
}

void process::flush(std::size_t index)
{
    link& l = links_[index];
    core::connection& c = connection_of(index);
    if (!l.open || l.full || c.output().empty())
        return;
    // Sometimes the kernel accepts only a part.
    const std::string_view all = c.output();
    const bool in_part = world_.chance.chance(0.01);
    const std::size_t offered = in_part ? 1 + world_.chance.below(all.size()) : all.size();
    const std::size_t taken = world_.net.send(l.stream, all.substr(0, offered));
    l.full = taken < offered;
    l.encoded -= std::min(l.encoded, taken);
    if (taken > 0)
        c.written(taken, now());
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
        if (number == timer_number_ && !frozen_)
            loop_.run([this] { fire(); });
    });
}

void process::fire()
{
    if (subject_ == nullptr)
        return;
    alarm_.clear();
    if (world_.time.now() - busy_since_ > 100ms) {
        busy_since_ = world_.time.now();
        fired_ = 0;
    }
    if (++fired_ == 20'000)
        world_.judge.fail(property::operations, name() + " is in a busy loop");
    settle();
}

} // namespace holdfast::simulation
