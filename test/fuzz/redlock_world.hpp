#pragma once

#include "fuzz/redlock_wires.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace holdfast::fuzz {

// After every call of the core all its commands and events are handled, and compared with the
// records.
struct redlock_world : redlock_wires {
    using event = core::event_kind;

    explicit redlock_world(input& choices) : redlock_wires(choices) { wake(); }

    std::set<std::uint64_t> watches;
    bool tricked = false; // a waiter got a false notification

    // An open claim in this stage, chosen by the input, or null.
    claim_book* choose(stage wanted)
    {
        std::vector<claim_book*> all;
        for (auto& [tag, b] : open) {
            if (b.now == wanted)
                all.push_back(&b);
        }
        return all.empty() ? nullptr : all[in.wide() % all.size()];
    }

    // Calls the core, and handles all resulting commands and events.
    template <class Call>
    void act(Call call, bool renewing = false)
    {
        for (auto& [tag, b] : open)
            b.begin();
        call();
        look(renewing);
        take_events();
        for (bool changed = true; changed;) {
            changed = false;
            for (node& n : nodes)
                changed = n.follow(now) || changed;
            look(false);
            take_events();
        }
    }

    void look(bool renewing)
    {
        for (node& n : nodes)
            n.look(now, renewing);
    }

    void take_events()
    {
        check_leases();
        while (const auto e = redlock.next_event()) {
            if (e->kind == event::free_hint)
                check(watches.erase(e->tag) == 1, "a watch ends only once");
            else
                take(*e);
        }
        for (const auto& [tag, b] : open) {
            b.check_requests();
            check(!b.removal_seen || b.now == stage::releasing,
                "the key of an open claim is not deleted");
            check(b.blurred || b.now != stage::held || b.told <= b.bound(),
                "a shorter validity is reported");
            if (b.now == stage::held && b.told > now)
                check_nodes(b, b.told);
        }
    }

    void take(const core::backend_event& e)
    {
        check(tagged.contains(e.tag), "there is no event for the old tag of a transferred claim");
        const auto found = open.find(tagged[e.tag]);
        check(found != open.end(), "there is no event for an ended claim");
        claim_book& b = found->second;
        const bool of_attempt =
            e.kind == event::granted || e.kind == event::refused || e.kind == event::queued;
        const stage expected = of_attempt                  ? stage::asking
                               : e.kind == event::released ? stage::releasing
                                                           : stage::held;
        check(b.now == expected, "an event fits the stage of its claim");
        // A dishonest node can answer a command that has not been sent yet. If it then closes the
        // connection, this world never sees the command.
        const bool unseen = b.blurred && !honest;
        switch (e.kind) {
        case event::granted:
            check(e.valid.until - now > b.terms.guard, "a lease is long enough to be useful");
            check_exclusion(b);
            b.now = stage::held;
            [[fallthrough]];
        case event::validity:
            check(e.valid.until <= b.best() || unseen,
                "a lease lasts no longer than a majority has granted");
            check(e.valid.until > now, "a validity ends in the future");
            check_nodes(b, e.valid.until);
            b.told = e.valid.until;
            return;
        case event::lost:
            check(b.blurred || b.worst() <= now, "a lease that a majority grants is not lost");
            b.told = core::long_ago;
            return;
        case event::refused:
            check(e.reason != errc{} &&
                      (e.reason != errc::contended || b.refusals > 0 || b.queued || unseen),
                "a refusal has a reason");
            check(!honest || e.reason != errc::key_conflict,
                "there is no key_conflict with honest nodes");
            break;
        case event::released:
            check(e.outcome != release_outcome::released || b.deletions > nodes.size() / 2 ||
                      b.given_away || unseen,
                "the outcome `released` requires deletions by a majority, or a gift");
            break;
        case event::queued:
            check(b.queued, "an attempt is reported as queued only if it is in a queue");
            return;
        case event::no_remote_waiters:
            check(b.found_alone > 0 || unseen,
                "no_remote_waiters requires an empty queue in the answer of a node");
            b.found_alone -= std::min<std::size_t>(b.found_alone, 1);
            return;
        case event::remote_waiters:
        case event::free_hint:
            break;
        }
        end(b);
    }

    void end(const claim_book& b)
    {
        tagged.erase(b.tag);
        open.erase(b.name);
    }

    // Honest nodes keep the key that they have granted as long as the lease lasts.
    void check_nodes(const claim_book& b, core::time_point until) const
    {
        const auto holds_it = [this, &b, until](const node& n) {
            const auto found = n.keys.find(b.resource);
            const auto at = static_cast<std::size_t>(&n - nodes.data());
            return found != n.keys.end() && found->second.token == b.value_at(at) &&
                   found->second.until >= until;
        };
        check(!honest || std::count_if(nodes.begin(), nodes.end(), holds_it) >
                             static_cast<std::ptrdiff_t>(nodes.size() / 2),
            "a majority of the nodes has the key of a lease");
    }

    void check_exclusion(const claim_book& granted)
    {
        for (const auto& [tag, b] : open) {
            check(
                !honest || b.now != stage::held || b.resource != granted.resource || b.told <= now,
                "no two leases on one resource are valid at once");
        }
    }

    void wake()
    {
        for (unsigned wakes = 0; redlock.wake_at() <= now; ++wakes) {
            check(wakes < 100, "a core is not due again at once after a wake()");
            act([&] { redlock.wake(now); });
        }
        for (const auto& [tag, b] : open)
            check(b.now == stage::held || now < b.deadline,
                "attempts and releases end in bounded time");
    }

    void pass(core::duration d)
    {
        const core::time_point end = now + d;
        for (wake(); redlock.wake_at() <= end; wake())
            now = redlock.wake_at();
        now = end;
    }

    // Time passes unnoticed, as in a suspension of the machine.
    void jump(core::duration d)
    {
        now += d;
        for (auto& [tag, b] : open)
            b.deadline = std::max(b.deadline, limit_of(b));
        wake();
    }

    void deliver(node& n, std::size_t most)
    {
        act([&] { n.deliver(most, now, [this] { look(false); }); });
        for (auto& [name, b] : open) { // a queued attempt goes on as long as the node answers
            if (b.queued && b.now == stage::asking)
                b.deadline = limit_of(b);
        }
    }

    // Runs all pending work of an honest node.
    void serve(node& n)
    {
        for (int rounds = 0; rounds < 4; ++rounds) {
            if (n.wants_to_open())
                act([&] { n.open(now); });
            n.take(SIZE_MAX, now);
            while (n.next() != nullptr)
                n.answer(n.execute(now));
            while (!n.answers.empty() && n.is_open())
                deliver(n, SIZE_MAX);
        }
    }
};

} // namespace holdfast::fuzz
