#include "verification/stores/etcd/cluster.hpp"

#include "verification/stores/etcd/link.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::etcd_simulation {

cluster::cluster(world& w) : world_(w), rate_(0.996 + 0.008 * w.random.fraction())
{
    end_leases();
}

time_point cluster::clock() const noexcept
{
    const auto now = static_cast<double>(world_.now().time_since_epoch().count());
    return time_point(duration(static_cast<std::int64_t>(now * rate_)));
}

time_point cluster::serves_at(std::size_t member) const noexcept
{
    return std::max({frozen_until_[member], led_from_, world_.now()});
}

void cluster::freeze(std::size_t member, duration length)
{
    const time_point until = world_.now() + length;
    frozen_until_[member] = std::max(frozen_until_[member], until);
    if (member != leader_)
        return;
    const time_point elected =
        world_.now() + world_.random.between(election_timeout, 2 * election_timeout);
    if (until < elected)
        led_from_ = std::max(led_from_, until); // it still leads
    else
        elect(elected);
}

void cluster::change_leader()
{
    elect(world_.now() + world_.random.of_any_size(1ms, election_timeout));
}

void cluster::elect(time_point at)
{
    if (led_from_ > world_.now())
        return; // an election is under way
    led_from_ = at;
    world_.at(at, [this] {
        for (std::size_t i = 1; i < size; ++i) {
            const std::size_t next = (leader_ + i) % size;
            if (frozen_until_[next] > world_.now())
                continue;
            leader_ = next;
            break;
        }
        model.extend_leases(clock(), election_timeout);
    });
}

void cluster::compact()
{
    const std::int64_t age = static_cast<std::int64_t>(world_.random.below(20));
    model.compact(model.revision() - age);
}

void cluster::touch_a_key()
{
    if (model.keys().empty())
        return;
    const auto key = std::next(model.keys().begin(),
        static_cast<std::ptrdiff_t>(world_.random.below(model.keys().size())));
    model.put(std::string(key->first));
    committed();
}

void cluster::committed()
{
    std::erase_if(links_, [](const auto& each) { return each.expired(); });
    for (const auto& each : links_)
        each.lock()->tell_watches();
}

// As the leader does, twice a second.
void cluster::end_leases()
{
    world_.after(500ms, [this] {
        if (serves_at(leader_) <= world_.now()) {
            const std::int64_t before = model.revision();
            model.pass_to(clock());
            if (model.revision() != before)
                committed();
        }
        end_leases();
    });
}

} // namespace holdfast::etcd_simulation
