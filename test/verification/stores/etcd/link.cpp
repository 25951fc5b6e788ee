#include "verification/stores/etcd/link.hpp"

#include "etcd/wire/grpc.hpp"
#include "etcd/wire/messages.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::etcd_simulation {

namespace wire = etcd_store::wire;

void link::later(time_point at, void (link::*what)())
{
    world_.at(at, [self = shared_from_this(), what] { (self.get()->*what)(); });
}

void link::send(std::string bytes)
{
    sent_ = std::max(sent_, world_.now() + cluster_.delay());
    world_.at(sent_, [self = shared_from_this(), all = std::move(bytes)] { self->arrive(all); });
}

void link::leave()
{
    if (std::exchange(left_, true))
        return;
    late_ = world_.random.chance(0.5);
    on_bytes = nullptr;
    on_break = nullptr;
}

void link::break_off()
{
    if (left_)
        return;
    const auto told = on_break;
    leave();
    told();
}

void link::arrive(const std::string& bytes)
{
    if (left_ && !late_)
        return;
    server_.receive(bytes);
    const auto waiting = static_cast<std::size_t>(std::count_if(server_.waiting().begin(),
        server_.waiting().end(), [](const auto& each) { return !each.executed; }));
    for (; known_ < waiting; ++known_) {
        const duration delay = left_ ? world_.random.of_any_size(1ms, 8s) : cluster_.delay();
        later(std::max(world_.now(), cluster_.serves_at(member_)) + delay, &link::execute);
    }
    flush();
}

// Streams have no order among each other. Requests of one stream stay in order.
void link::shuffle()
{
    auto& all = server_.waiting();
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i - 1].stream != all[i].stream && world_.random.chance(0.3))
            std::swap(all[i - 1], all[i]);
    }
}

void link::execute()
{
    if (const time_point at = cluster_.serves_at(member_); at > world_.now())
        return later(at + cluster_.delay(), &link::execute);
    if (left_ && !late_)
        return;
    auto& dice = world_.random;
    if (!left_ && dice.chance(cluster_.trouble.break_off)) {
        break_off();
        return later(world_.now() + dice.of_any_size(1ms, 8s), &link::execute);
    }
    shuffle();
    const auto next = std::find_if(server_.waiting().begin(), server_.waiting().end(),
        [](const auto& each) { return !each.executed; });
    if (next == server_.waiting().end())
        return;
    --known_;
    if (next->path != wire::keep_alive_path && dice.chance(cluster_.trouble.error)) {
        const test::etcd_model_server::request lost = *next;
        next->executed = true;
        next->answer = {wire::status::unavailable, "etcdserver: request timed out"};
        const auto run = [this, self = shared_from_this(), lost] {
            cluster_.model.call(lost.path, lost.message, cluster_.clock());
            cluster_.committed();
        };
        if (dice.chance(0.3))
            run();
        else if (dice.chance(0.5))
            world_.after(dice.of_any_size(1ms, 8s), run);
    } else {
        server_.execute(cluster_.clock());
        cluster_.committed();
    }
    if (dice.chance(cluster_.trouble.no_answer))
        break_off();
    later(world_.now() + cluster_.delay(), &link::answer);
}

void link::answer()
{
    if (left_)
        return;
    if (const time_point at = cluster_.serves_at(member_); at > world_.now())
        return later(at + cluster_.delay(), &link::answer);
    shuffle();
    server_.answer();
    flush();
}

void link::tell_watches()
{
    if (left_ || std::exchange(telling_, true))
        return;
    const bool late = world_.random.chance(cluster_.trouble.late_watch);
    const duration delay = world_.random.of_any_size(50us, late ? duration(500ms) : duration(5ms));
    world_.after(delay, [self = shared_from_this()] {
        self->telling_ = false;
        if (self->left_)
            return;
        if (self->cluster_.frozen(self->member_))
            return self->later(self->cluster_.serves_at(self->member_), &link::tell_watches);
        self->server_.tell_watches();
        self->flush();
    });
}

void link::flush()
{
    std::string bytes = server_.output();
    if (bytes.empty() || left_)
        return;
    delivered_ = std::max(delivered_, world_.now() + cluster_.delay());
    world_.at(delivered_, [self = shared_from_this(), all = std::move(bytes)] {
        if (self->on_bytes) {
            const auto to = self->on_bytes; // it may leave
            to(all);
        }
    });
}

} // namespace holdfast::etcd_simulation
