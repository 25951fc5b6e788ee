#include "verification/stores/client.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::store_simulation {

namespace {

core::claim_params terms_for(world& w, duration ttl)
{
    return {.ttl = ttl,
        .drift = ttl / 100 + 2ms,
        .guard = std::min<duration>(ttl / 10, 100ms),
        .queue = w.random.chance(0.8) ? core::queueing::if_contended : core::queueing::none};
}

double rate_of_clock(world& w, const client_habits& h)
{
    if (h.slow_clocks > 0 && w.random.chance(h.slow_clocks))
        return 1 - h.clock_error;
    return 1 - h.clock_error + 2 * h.clock_error * w.random.fraction();
}

} // namespace

client::client(world& w, referee& judge, const client_params& p, const client_habits& h)
    : world_(w),
      referee_(judge),
      process_(w, p.number, rate_of_clock(w, h)),
      token_start_(std::to_string(p.number) + "-"),
      renewing_(h.renewing),
      lingering_(h.lingering),
      stubbornness_(h.stubbornness),
      most_transfers_(h.most_transfers),
      terms_(terms_for(w, p.ttl))
{
    for (std::size_t i = 0; i < p.resources; ++i)
        users_.push_back({.resource = "r" + std::to_string(i)});
}

void client::begin()
{
    for (user& each : users_)
        rest(each);
}

void client::crash()
{
    process_.crash();
    cut_off();
}

void client::be_patient() noexcept
{
    patient_ = true;
    for (user& each : users_) {
        if (each.wants_since != core::never)
            each.wants_since = world_.now();
    }
}

void client::close()
{
    process_.deliver([this] {
        if (!std::exchange(retired_, true))
            store().cleanup().wind_up(process_.now());
        turn();
    });
}

void client::retire()
{
    process_.deliver([this] {
        if (std::exchange(retired_, true))
            return;
        stopping_ = true;
        for (user& each : users_) {
            if (each.now == stage::holds) // nobody else may have it before its end
                store().cleanup().leave(each.claim);
            else if (each.now == stage::asks)
                store().abandon(each.claim, process_.now());
            each.wants_since = core::never;
            rest(each);
        }
        store().cleanup().wind_up(process_.now());
        retires_ = true;
        turn();
    });
}

duration client::longest_wait() const
{
    duration longest{};
    for (const user& each : users_) {
        if (each.wants_since != core::never && terms_.queue != core::queueing::none)
            longest = std::max(longest, world_.now() - each.wants_since);
    }
    return longest;
}

bool client::is_done() const
{
    return std::all_of(
        users_.begin(), users_.end(), [](const user& each) { return each.now == stage::rests; });
}

bool client::holds_something() const
{
    return std::any_of(
        users_.begin(), users_.end(), [](const user& each) { return each.now == stage::holds; });
}

void client::turn()
{
    const time_point now = process_.now();
    // What has arrived during a pause may not be delivered yet.
    const bool heard_all = process_.has_run_for(1ms);
    if (store().wake_at() <= now)
        store().wake(now, heard_all ? now : core::long_ago);
    handle_events();
    serve(now);
    handle_events();
    if (retires_ && is_done() && store().cleanup().is_done()) {
        retires_ = false;
        store().close(now);
        serve(now);
    }
    check();
    wake_later();
}

void client::wake_later()
{
    const time_point wanted = store().wake_at();
    if (wanted == core::never)
        return;
    const time_point at = std::max(
        world_.now() + 100us, wanted <= process_.now() ? world_.now() : process_.true_time(wanted));
    if (at >= wakes_at_)
        return;
    wakes_at_ = at;
    world_.at(at, [this, at] {
        if (wakes_at_ == at)
            wakes_at_ = core::never;
        process_.deliver([this] { turn(); });
    });
}

// Fresh for each attempt. The first letters are random, so that the order of names tells nothing.
core::owner_token client::fresh_token(std::uint64_t tag)
{
    core::owner_token token;
    token.text.fill('A');
    token.text[0] = static_cast<char>('a' + world_.random.below(26));
    const std::string rest = token_start_ + std::to_string(tag);
    rest.copy(token.text.data() + 1, token.text.size() - 1);
    return token;
}

bool client::has_made(std::string_view token) const
{
    return !token.empty() && token.substr(1).starts_with(token_start_);
}

void client::later(user& u, duration delay, void (client::*what)(user&))
{
    world_.after(delay, [this, &u, tag = u.tag, what] {
        process_.deliver([this, &u, tag, what] {
            if (u.tag != tag)
                return;
            (this->*what)(u);
            turn();
        });
    });
}

void client::rest(user& u)
{
    u.now = stage::rests;
    u.tag = ++last_tag_;
    if (!stopping_)
        later(u, world_.random.of_any_size(100us, patient_ ? duration(1s) : duration(20s)),
            &client::ask);
}

void client::ask(user& u)
{
    if (stopping_)
        return;
    u.now = stage::asks;
    u.wants_since = std::min(u.wants_since, world_.now());
    u.claim = store().attempt(u.tag, u.resource, fresh_token(u.tag), terms_, process_.now());
    if (!patient_)
        later(u, world_.random.of_any_size(1ms, 60s), &client::give_back);
}

void client::handle_events()
{
    while (const auto e = store().next_event())
        handle(*e);
}

void client::handle(const core::backend_event& e)
{
    const auto found = std::find_if(
        users_.begin(), users_.end(), [&e](const user& each) { return each.tag == e.tag; });
    if (found == users_.end())
        return; // an earlier lease of a user that has not waited for the end of its release
    user& u = *found;
    switch (e.kind) {
    case core::event_kind::granted:
        return hold(u, e);
    case core::event_kind::refused:
        return rest(u);
    case core::event_kind::validity:
        if (u.now != stage::holds)
            return;
        if (process_.now() >= u.until)
            return lapse(u);
        u.until = std::max(u.until, e.valid.until);
        u.belief->until = process_.true_time(u.until);
        return;
    case core::event_kind::lost:
        if (u.now == stage::holds)
            end(u);
        return;
    case core::event_kind::remote_waiters:
        if (u.now == stage::holds && u.lingers)
            end(u);
        return;
    case core::event_kind::released:
        if (u.now == stage::releases)
            rest(u);
        return;
    default:
        return;
    }
}

void client::hold(user& u, const core::backend_event& e)
{
    u.now = stage::holds;
    u.wants_since = core::never;
    u.until = e.valid.until;
    if (process_.now() >= u.until)
        world_.violation("a lease was granted that had ended");
    u.belief =
        referee_.granted(u.resource, process_, e.fence.value_or(0), process_.true_time(u.until));
    // Where some do not renew, their leases end.
    if (patient_ || renewing_ >= 1 || world_.random.chance(renewing_))
        later(u, terms_.ttl / 3, &client::renew);
    later(u, terms_.ttl / 2, &client::lapse);
    u.lingers = lingering_ > 0 && world_.random.chance(lingering_);
    if (u.lingers)
        store().queue().report_waiters(u.claim, process_.now());
    const duration longest = u.lingers  ? duration(30s)
                             : patient_ ? duration(200ms)
                                        : 3 * terms_.ttl;
    const bool stubborn = stubbornness_ > 0 && !patient_ && world_.random.chance(stubbornness_);
    later(u, world_.random.of_any_size(stubborn ? terms_.ttl : 100us, longest), &client::give_back);
}

void client::renew(user& u)
{
    if (u.now != stage::holds)
        return;
    if (process_.now() >= u.until)
        return lapse(u);
    const core::claim_id claims[] = {u.claim};
    store().renew(claims, world_.random.chance(0.2), process_.now());
    if (u.lingers) // an earlier report may have been lost
        store().queue().report_waiters(u.claim, process_.now());
    if (store().can_transfer(u.claim) && world_.random.chance(0.2))
        transfer(u);
    later(u, terms_.ttl / 3, &client::renew);
}

void client::transfer(user& u)
{
    std::size_t times = most_transfers_ == 1 ? 1 : 1 + world_.random.below(most_transfers_);
    while (times-- != 0 && store().can_transfer(u.claim)) {
        const auto token = store().transfer(u.claim, u.tag);
        referee_.passed(u.resource, token.value_or(0));
    }
}

// Gives the lease back when it has ended by the clock.
void client::lapse(user& u)
{
    if (u.now != stage::holds)
        return;
    if (process_.now() < u.until)
        return later(u, std::max<duration>(u.until - process_.now(), 1ms), &client::lapse);
    end(u);
}

void client::give_back(user& u)
{
    if (u.now == stage::holds)
        return end(u);
    if (u.now != stage::asks || patient_)
        return;
    store().abandon(u.claim, process_.now());
    u.wants_since = core::never;
    rest(u);
}

void client::end(user& u)
{
    referee_.over(u.resource, u.belief);
    store().release(u.claim, process_.now());
    u.now = stage::releases;
    if (world_.random.chance(0.3))
        rest(u); // and does not wait for the end of it
}

} // namespace holdfast::store_simulation
