#include "etcd/claim_desk.hpp"

#include "etcd/wire/messages.hpp"

namespace holdfast::etcd_store {

using core::time_point;
using stage = claim::stage;
using kind = request::kind;

void claim_desk::want(core::claim_id id)
{
    if (members_.is_up())
        wanted_.push_back(id);
}

// Attempts first: they take the deletion of an earlier key along.
void claim_desk::make_requests()
{
    std::vector<core::claim_id> all;
    all.swap(wanted_);
    for (const bool attempts : {true, false}) {
        for (const core::claim_id id : all) {
            const claim* const c = claims_.find(id);
            if (c != nullptr && (c->now == stage::asking) == attempts)
                make_request(id, now_);
        }
    }
}

void claim_desk::make_request(core::claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (c.call != 0 || !members_.is_up())
        return;
    switch (c.now) {
    case stage::asking:
        return ask(id, c, now);
    case stage::waiting:
        c.early.clear();
        return begin({.what = kind::list, .claim = id}, wire::range_path,
            wire::list_keys(c.place.keys(), c.place.limit()), now);
    case stage::first:
    case stage::held:
        return; // the session is enough
    case stage::leaving:
        ++c.removals;
        if (!c.dubious)
            return begin({.what = kind::leave, .claim = id}, wire::delete_path,
                wire::delete_key(c.place.key()), now);
        barriers_.add(texts_.barrier_of(c), now);
        return begin({.what = kind::bar, .claim = id}, wire::txn_path, texts_.bar(c), now);
    }
}

void claim_desk::ask(core::claim_id id, claim& c, time_point now)
{
    const session& s = sessions_[c.session];
    if (!s.is_alive())
        return sessions_.begin(c.session, now);
    request r{.what = kind::ask, .claim = id};
    std::string leaves;
    if (const core::claim_id leaving = departures_.on(c.place.queue()); leaving != 0) {
        claim& earlier = claims_[leaving];
        if (!c.uses_queue || earlier.call != 0 || earlier.dubious)
            return departures_.await(c.place.queue(), id);
        ++earlier.removals;
        r.leaves = leaving;
        leaves = earlier.place.key();
    }
    c.lease = s.lease();
    c.asked = now;
    c.early.clear();
    begin(r, wire::txn_path, c.uses_queue ? texts_.ask(c, leaves) : texts_.ask_once(c), now);
}

void claim_desk::begin(request r, std::string_view path, const std::string& message, time_point now)
{
    r.sent = now;
    r.revision = history_.revision();
    const wire::stream_id call = members_.current().begin(path, message, false, false);
    if (call == 0)
        return members_.fail(errc::unreachable, "the connection can make no more calls", now);
    calls_.add(call, r);
    for (const core::claim_id id : {r.claim, r.leaves}) {
        if (claim* const c = claims_.find(id))
            c->call = call;
    }
}

void claim_desk::ended(core::claim_id id, const claim& c)
{
    const core::claim_id next = departures_.end(c.place.queue(), id);
    if (claims_.find(next) != nullptr)
        want(next);
}

void claim_desk::clear_barriers(time_point now)
{
    if (!members_.is_up())
        return;
    if (const auto key = barriers_.next(now))
        begin({.what = kind::clear}, wire::delete_path, wire::delete_key(*key), now);
}

} // namespace holdfast::etcd_store
