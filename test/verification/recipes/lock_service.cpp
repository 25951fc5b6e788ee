#include "verification/recipes/lock_service.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::recipe_simulation {

// What a holder does when its lease is lost may hold the lease itself.
lock_service::~lock_service()
{
    for (const auto& [key, each] : given_) {
        if (const lease_pointer held = each.lease.lock())
            held->on_lost = nullptr;
    }
}

lock_service::request_id lock_service::acquire(
    process& p, const std::string& resource, bool once, time_point until, answer done)
{
    const auto r = std::make_shared<request>(
        request{++count_, &p, resource, once, until, std::move(done), false});
    requests_[r->id] = r;
    world_.after(latency(), [this, r] { arrive(r); });
    if (!once && until != core::never)
        p.deliver_at(until, [this, r] { answer_with(r, make_error_code(errc::contended)); });
    return r->id;
}

void lock_service::cancel(request_id id)
{
    const auto found = requests_.find(id);
    if (found == requests_.end())
        return;
    found->second->over = true;
    const std::string resource = found->second->resource;
    requests_.erase(found);
    world_.after(latency(), [this, resource] { serve(resource); });
}

void lock_service::arrive(const request_pointer& r)
{
    lock_state& lock = locks_[r->resource];
    lock.queue.push_back(r);
    serve(r->resource);
    if (!r->once || lock.grant == 0)
        return;
    const auto queued = std::find(lock.queue.begin(), lock.queue.end(), r);
    if (queued == lock.queue.end())
        return; // granted
    lock.queue.erase(queued);
    world_.after(latency(), [this, r] { r->from->deliver([this, r] { answer_with(r, {}); }); });
}

void lock_service::serve(const std::string& resource)
{
    lock_state& lock = locks_[resource];
    if (lock.grant != 0 && lock.until <= world_.now())
        lock.grant = 0;
    while (lock.grant == 0 && !lock.queue.empty()) {
        const request_pointer first = lock.queue.front();
        lock.queue.pop_front();
        if (!first->over && !first->from->crashed())
            grant(first, lock);
    }
}

void lock_service::grant(const request_pointer& r, lock_state& lock)
{
    lock.grant = ++count_;
    const std::uint64_t token = ++lock.last_token;
    // The validity counts from before the store was asked.
    const time_point sent = world_.now() - latency();
    end_at(r->resource, lock.grant, world_.now() + ttl);
    if (world_.random.chance(trouble.lost_reply)) {
        // The attempt fails. The library asks again, or the wait ends.
        world_.after(ttl / 20, [this, r] {
            if (!r->once)
                arrive(r);
            else
                r->from->deliver([this, r] { answer_with(r, make_error_code(errc::unreachable)); });
        });
        return;
    }
    world_.after(latency(), [this, r, grant = lock.grant, token, sent] {
        r->from->deliver([this, r, grant, token, sent] { give(r, grant, token, sent); });
    });
}

// The store forgets a grant that nothing has renewed.
void lock_service::end_at(const std::string& resource, std::uint64_t grant, time_point when)
{
    lock_state& lock = locks_[resource];
    lock.until = when;
    world_.at(when, [this, resource, grant] {
        if (locks_[resource].grant == grant)
            serve(resource);
    });
}

void lock_service::give(
    const request_pointer& r, std::uint64_t grant, std::uint64_t token, time_point sent)
{
    const auto held = std::make_shared<held_lease>(*r->from, r->resource);
    held->token = token;
    // What the clock of the process showed when it asked, as far as it can be told from now.
    const duration ago = world_.now() - sent;
    held->valid_until = r->from->now() - ago - ago / 100 + ttl - drift();
    given_[held.get()] = {.lease = held, .grant = grant};
    if (r->over) {
        release(held);
        return;
    }
    if (held->valid_until <= r->from->now() + guard()) {
        release(held);
        answer_with(r, make_error_code(errc::too_late));
        return;
    }
    requests_.erase(r->id);
    r->over = true;
    keep(held, grant);
    watch_end(held);
    r->done({}, held);
}

// Renews it every third of the ttl, until it is released or the world is unkind.
void lock_service::keep(const lease_pointer& held, std::uint64_t grant)
{
    process& p = held->owner;
    p.deliver_at(p.now() + ttl / 3, [this, held, grant] {
        lock_state& lock = locks_[held->resource];
        const bool well = lock.grant == grant && lock.until > world_.now();
        const bool late = held->owner.now() >= held->valid_until - guard();
        if (held->released || late || !well || world_.random.chance(trouble.end_of_lease))
            return;
        const time_point valid_until = held->owner.now() + ttl - drift();
        end_at(held->resource, grant, world_.now() + ttl + 20ms);
        held->valid_until = valid_until;
        keep(held, grant);
    });
}

// Tells the holder a guard time before the end, unless a renewal has moved the end.
void lock_service::watch_end(const lease_pointer& held)
{
    process& p = held->owner;
    p.deliver_at(held->valid_until - guard(), [this, held] {
        if (held->released || held->told)
            return;
        if (held->owner.now() < held->valid_until - guard()) {
            watch_end(held);
            return;
        }
        held->tell();
    });
}

void lock_service::release(const lease_pointer& held)
{
    if (std::exchange(held->released, true))
        return;
    held->on_lost = nullptr;
    const auto found = given_.find(held.get());
    if (found == given_.end())
        return; // a wrong recipe made it up
    const std::uint64_t grant = found->second.grant;
    given_.erase(found);
    if (world_.random.chance(trouble.lost_release))
        return;
    world_.after(latency(), [this, held, grant] {
        lock_state& lock = locks_[held->resource];
        if (lock.grant == grant)
            lock.grant = 0;
        serve(held->resource);
    });
}

bool lock_service::is_free(const std::string& resource) const
{
    const auto found = locks_.find(resource);
    return found == locks_.end() || found->second.grant == 0;
}

void lock_service::answer_with(const request_pointer& r, error_code why)
{
    if (std::exchange(r->over, true))
        return;
    requests_.erase(r->id);
    r->done(why, nullptr);
}

} // namespace holdfast::recipe_simulation
