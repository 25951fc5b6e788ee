#pragma once

#include "core/locker_core.hpp"

#include "core/params.hpp"
#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "support/scripted_backend.hpp"
#include "support/times.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace holdfast::fuzz {

using namespace std::chrono_literals;
using backend = test::scripted_backend;

inline const lock_options kinds[] = {
    {.ttl = 300ms},
    {.ttl = 300ms, .renewal = renewal::manual, .handoff_limit = 2},
    {.ttl = 300ms, .drift = 0ms, .guard = 0ms, .handoff_limit = 0},
    {.ttl = 20ms, .drift = 1ms, .guard = 3ms, .handoff_time = 5ms},
    {.ttl = 9s, .max_hold = 700ms},
    {.ttl = 300ms, .handoff_limit = 3, .linger = 80ms},
};

class entropy final : public core::entropy {
public:
    bool fill(std::span<std::byte> out) noexcept override
    {
        std::fill(out.begin(), out.end(), std::byte(++calls_));
        return !exhausted;
    }
    bool exhausted = false;

private:
    unsigned char calls_ = 0;
};

// A lease as a user of the locker sees it.
struct lease {
    std::string resource;
    core::duration ttl{}, drift{}, guard{};
    bool working = true; // not yet told to stop
    bool gone = false;
    bool extending = false;
    core::time_point ends_at = core::never; // the latest end, once work was told to stop
    core::time_point extension_sent{};
};

struct waiting {
    std::string resource;
    core::slot_id id = 0; // 0: cannot be cancelled
    std::size_t kind = 0;
};

// A locker core, and the records of its waits and leases.
struct locker_world {
    using effect = core::effect;
    using slot_id = core::slot_id;

    explicit locker_world(input& choices) : in(choices)
    {
        store.how_patient = core::duration::max();
        store.probes_take_time = store.has_tokens = true;
    }

    input& in;
    backend store;
    entropy random;
    core::locker_core locker{
        store, random, locker_options{.retry_min = 8ms, .retry_max = 128ms, .max_waiting = 6}, 1};
    core::time_point now = test::start;

    std::map<std::uint64_t, waiting> waits;
    std::map<slot_id, lease> leases; // leases whose objects exist
    std::map<std::string, std::uint64_t> last_acquired;
    std::set<slot_id> known_leases;                        // all leases ever acquired
    std::map<slot_id, core::time_point> let_go_at;         // when holders released or dropped them
    std::set<std::uint64_t> releases;                      // releases without an outcome yet
    std::map<core::claim_id, core::time_point> granted_at; // if not at the request; later by pauses
    bool closing = false, closed = false;

    void note()
    {
        while (const auto e = locker.next_effect())
            note(*e);
        check_books();
    }

    void note(const effect& e)
    {
        switch (e.kind) {
        case core::effect_kind::acquired:
            return on_acquired(e);
        case core::effect_kind::wait_ended:
            check(waits.erase(e.tag) == 1, "a wait ends only once");
            return;
        case core::effect_kind::released:
            check(releases.erase(e.tag) == 1, "a release ends only once");
            return;
        case core::effect_kind::drained:
            check(false, "nobody has asked for a drain");
            return;
        case core::effect_kind::closed:
            check(closing && !closed, "a locker closes only once");
            closed = true;
            return;
        case core::effect_kind::must_stop:
        case core::effect_kind::gone:
        case core::effect_kind::extended:
            break;
        }
        check(leases.contains(e.lease), "an effect of a lease is of an existing one");
        lease& l = leases[e.lease];
        check(!l.gone, "there is no effect of a lease that is gone");
        if (e.kind == core::effect_kind::extended) {
            check(l.extending, "an extension ends only once");
            l.extending = false;
            if (e.reason == errc{})
                check(told(e.lease) >= l.extension_sent + l.ttl - l.drift,
                    "an extended lease lasts a full ttl");
            return;
        }
        check(e.kind == core::effect_kind::gone || l.working, "work is told to stop only once");
        l.working = false;
        l.gone = e.kind == core::effect_kind::gone;
    }

    void on_acquired(const effect& e)
    {
        check(waits.contains(e.tag), "a wait ends only once");
        const waiting w = waits[e.tag];
        waits.erase(e.tag);
        for (const auto& [id, other] : leases)
            check(!other.working || other.resource != w.resource,
                "one holder at a time works on a resource");
        check(last_acquired[w.resource] < e.tag, "waits are served in order");
        for (const auto& [tag, other] : waits)
            check(tag > e.tag || other.resource != w.resource, "no earlier wait is skipped");
        check(!closing, "a closing locker acquires no lease");
        check(!leases.contains(e.lease), "a new lease has a new id");
        last_acquired[w.resource] = e.tag;
        const core::lease_params t = core::terms_of(kinds[w.kind]);
        check(e.fence == claim_of(e.lease).fence, "each holder has its own fencing token");
        check_claim(e.lease, w, t);
        leases[e.lease] = {
            .resource = w.resource, .ttl = t.ttl, .drift = t.drift, .guard = t.guard};
    }

    // Checks that the claim of a new lease is right for its new holder.
    void check_claim(slot_id id, const waiting& w, const core::lease_params& t)
    {
        const auto& [claim, c] = *find_claim(id);
        check(known_leases.insert(id).second, "a lease is acquired only once");
        check(c.now == backend::stage::held && c.resource == w.resource,
            "a lease is on the resource that was asked for");
        check(c.terms.ttl == t.ttl && c.terms.drift == t.drift && c.terms.guard == t.guard,
            "a lease has the terms of its own wait, even if another wait began the claim");
        check(c.told - t.guard > now, "a lease is long enough to be useful");
        if (c.tag_before == 0)
            return;
        const auto before = leases.find(c.tag_before); // none: dropped, and it has lingered
        check(before == leases.end() ? known_leases.contains(c.tag_before) : before->second.gone,
            "a lease is transferred only after its holder has let it go");
        check(c.passes <= t.handoff_limit || c.probing,
            "the number of transfers is limited, unless others would be noticed");
        core::time_point& granted = granted_at.try_emplace(claim, c.asked).first->second;
        const auto let_go = let_go_at.find(c.tag_before);
        if (c.reported_before && let_go != let_go_at.end())
            granted += now - let_go->second; // it has lingered, and waiters would be noticed
        check(now - granted < t.handoff_time, "the time for transfers is limited");
    }

    std::map<core::claim_id, backend::claim>::const_reverse_iterator find_claim(slot_id id) const
    {
        const auto& all = store.claims;
        const auto found = std::find_if(
            all.rbegin(), all.rend(), [id](const auto& each) { return each.second.tag == id; });
        check(found != all.rend(), "every lease has a claim of its own");
        return found;
    }
    const backend::claim& claim_of(slot_id id) const { return find_claim(id)->second; }

    // The validity of a lease's claim, as reported by the backend.
    core::time_point told(slot_id id) const { return claim_of(id).told; }

    void check_books()
    {
        locker_stats s;
        locker.add_to(s);
        check(s.waiting == waits.size(), "the statistics count the waits");
        check(!closing || s.lingering == 0, "nothing lingers in a closing locker");
        for (auto& [id, l] : leases) {
            check(l.working == (locker.leases().must_stop(id) == errc{}),
                "must_stop() agrees with effects");
            // A transferred claim belongs to its next holder.
            const core::time_point end = l.gone ? core::long_ago : told(id);
            check(locker.leases().valid_until(id) <= end, "a lease ends no later than its claim");
            check(
                !locker.leases().held(id, now) || now < end, "a lease that has ended is not held");
            check(
                locker.leases().valid_until(id) <= l.ends_at, "once work must stop, the end stays");
            if (!l.working)
                l.ends_at = locker.leases().valid_until(id);
            check(!l.gone || !locker.leases().held(id, now), "a lease that is gone is not held");
        }
    }

    // Wakes the locker like the I/O layer. Work must then stop by the clock, even if the backend
    // reports nothing.
    void wake()
    {
        locker.wake(now);
        note();
        check(locker.wake_at() > now, "a core is not due again at once after a wake()");
        for (const auto& [id, l] : leases)
            check(!l.working || now < locker.leases().valid_until(id) - l.guard,
                "work stops in time");
    }
};

} // namespace holdfast::fuzz
