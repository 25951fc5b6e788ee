#include "verification/stores/zookeeper/burst_client.hpp"

#include "core/params.hpp"
#include "verification/stores/zookeeper/client.hpp"
#include "verification/stores/zookeeper/link.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_simulation {

namespace {

core::lease_params terms_for(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    return core::terms_of(options);
}

} // namespace

burst_client::burst_client(world& w, store_simulation::referee& judge, ensemble& servers,
    int number, std::chrono::milliseconds ttl)
    : world_(w),
      referee_(judge),
      ensemble_(servers),
      process_(w, number, 0.996 + 0.008 * w.random.fraction()),
      entropy_(w.random.bits()),
      store_(client::settings(servers, ttl), w.random.bits()),
      locker_(store_, entropy_, {}, w.random.bits()),
      streams_(w, *this),
      terms_(terms_for(ttl))
{}

std::shared_ptr<store_simulation::byte_link> burst_client::open(std::size_t server)
{
    const auto opened = std::make_shared<link>(world_, ensemble_, server);
    opened->open();
    return opened;
}

// One turn for all that ask at the same time.
void burst_client::acquire(std::string resource, duration hold)
{
    process_.deliver([&, this] {
        const std::size_t tag = users_.size();
        ++waiting_;
        locker_.acquire(tag, resource, terms_, forever, false, process_.now());
        users_.push_back({.resource = std::move(resource), .hold = hold});
        if (!std::exchange(turn_is_due_, true))
            world_.after(1us, [this] {
                process_.deliver([this] {
                    turn_is_due_ = false;
                    turn();
                });
            });
    });
}

void burst_client::give_back()
{
    process_.deliver([this] {
        for (const std::size_t each : std::vector(holders_))
            release(each);
        turn();
    });
}

void burst_client::crash()
{
    process_.crash();
    streams_.cut_off();
}

void burst_client::close()
{
    process_.deliver([this] {
        locker_.close(process_.now());
        turn();
    });
}

void burst_client::turn()
{
    const time_point now = process_.now();
    const auto act = [&] {
        locker_.wake(now, process_.has_run_for(1ms) ? now : core::long_ago);
        while (const auto e = locker_.next_effect())
            perform(*e);
    };
    act();
    update_beliefs();
    streams_.serve(now);
    act();
    streams_.serve(now);
    wake_later();
}

void burst_client::wake_later()
{
    const time_point wanted = locker_.wake_at();
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

void burst_client::perform(const core::effect& e)
{
    switch (e.kind) {
    case core::effect_kind::acquired: {
        user& u = users_[e.tag];
        --waiting_;
        ++granted_;
        ++held_;
        last_grant_ = world_.now();
        u.lease = e.lease;
        u.belief = referee_.granted(u.resource, process_, e.fence.value_or(0),
            process_.true_time(locker_.leases().valid_until(e.lease)));
        holders_.push_back(e.tag);
        if (u.hold != for_good)
            world_.after(u.hold, [this, tag = e.tag] {
                process_.deliver([this, tag] {
                    release(tag);
                    turn();
                });
            });
        return;
    }
    case core::effect_kind::wait_ended:
        --waiting_;
        ++refused_;
        return;
    case core::effect_kind::must_stop:
        for (const std::size_t each : std::vector(holders_)) {
            if (users_[each].lease == e.lease) {
                ++lost_;
                release(each);
            }
        }
        return;
    case core::effect_kind::closed:
        closed_ = true;
        store_.close(process_.now());
        return;
    default:
        return;
    }
}

// Renewals are not told one by one.
void burst_client::update_beliefs()
{
    for (const std::size_t each : holders_) {
        const user& u = users_[each];
        u.belief->until = process_.true_time(locker_.leases().valid_until(u.lease));
    }
}

void burst_client::release(std::size_t tag)
{
    user& u = users_[tag];
    if (u.lease == 0)
        return;
    --held_;
    referee_.over(u.resource, u.belief);
    locker_.release(std::exchange(u.lease, 0), tag, process_.now());
    holders_.erase(std::find(holders_.begin(), holders_.end(), tag));
}

} // namespace holdfast::zookeeper_simulation
