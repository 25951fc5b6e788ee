#pragma once

#include "fuzz/redlock_wires.hpp"

#include <algorithm>
#include <set>

namespace holdfast::fuzz {

// Every call of the core is followed by all that comes of it, and that is compared with the books.
struct redlock_world : redlock_wires {
    using event = core::event_kind;

    explicit redlock_world(input& choices) : redlock_wires(choices) { wake(); }

    std::set<std::uint64_t> watches;
    bool tricked = false; // somebody was told of his turn, and it was not

    // Calls the core, and follows up all that comes of it.
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
        while (const auto e = redlock.next_event()) {
            if (e->kind == event::free_hint)
                check(watches.erase(e->tag) == 1, "a watch ends once");
            else
                take(*e);
        }
        for (const auto& [tag, b] : open) {
            b.check_requests();
            check(!b.removal_seen || b.now == stage::releasing, "what is wanted is not removed");
            check(b.blurred || b.now != stage::held || b.told <= b.bound(),
                "a lease that has become shorter is told of");
        }
    }

    void take(const core::backend_event& e)
    {
        check(tagged.contains(e.tag), "nothing is heard of who has handed a claim over");
        const auto found = open.find(tagged[e.tag]);
        check(found != open.end(), "nothing is heard of a claim that has ended");
        claim_book& b = found->second;
        const bool of_attempt =
            e.kind == event::granted || e.kind == event::refused || e.kind == event::queued;
        const stage expected = of_attempt                  ? stage::asking
                               : e.kind == event::released ? stage::releasing
                                                           : stage::held;
        check(b.now == expected, "an attempt, and a release, ends once");
        // A wrong node can answer what has not left yet. If it then breaks its connection as well,
        // that command is never seen.
        const bool unseen = b.blurred && !honest;
        switch (e.kind) {
        case event::granted:
            check(e.valid_until - now > b.terms.guard, "a lease is long enough to be useful");
            check_exclusion(b);
            b.now = stage::held;
            [[fallthrough]];
        case event::validity:
            check(e.valid_until <= b.best() || unseen,
                "a lease lasts as long as a majority has granted");
            check(e.valid_until > now, "what is valid has not ended");
            check_nodes(b, e.valid_until);
            b.told = e.valid_until;
            return;
        case event::lost:
            check(b.blurred || b.worst() <= now, "what a majority grants is not lost");
            b.told = core::long_ago;
            return;
        case event::refused:
            check(e.reason != errc{} &&
                      (e.reason != errc::contended || b.refusals > 0 || b.queued || unseen),
                "a refusal has a reason");
            check(!honest || e.reason != errc::key_conflict, "and no other than there is");
            break;
        case event::released:
            check(
                e.outcome != release_outcome::released || b.deletions > nodes.size() / 2 || unseen,
                "released is what a majority has deleted");
            break;
        case event::queued:
            check(b.queued, "who waits for its turn has asked for it");
            return;
        case event::no_remote_waiters:
            check(b.found_alone > 0 || unseen, "nobody is alone who was not looked for");
            b.found_alone -= std::min<std::size_t>(b.found_alone, 1);
            return;
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

    // Good nodes have what they have granted, for as long as the lease lasts.
    void check_nodes(const claim_book& b, core::time_point until) const
    {
        const auto holds_it = [&b, until](const node& n) {
            const auto found = n.keys.find(b.resource);
            return found != n.keys.end() && found->second.token == b.token &&
                   found->second.until >= until;
        };
        check(!honest || std::count_if(nodes.begin(), nodes.end(), holds_it) >
                             static_cast<std::ptrdiff_t>(nodes.size() / 2),
            "what is granted is what a majority of the nodes has");
    }

    void check_exclusion(const claim_book& granted)
    {
        for (const auto& [tag, b] : open) {
            check(
                !honest || b.now != stage::held || b.resource != granted.resource || b.told <= now,
                "no two leases on one resource at once");
        }
    }

    void wake()
    {
        for (unsigned wakes = 0; redlock.wake_at() <= now; ++wakes) {
            check(wakes < 100, "a core that was woken can sleep");
            act([&] { redlock.wake(now); });
        }
        for (const auto& [tag, b] : open)
            check(
                b.now == stage::held || now < b.deadline, "an attempt, and a release, is bounded");
    }

    void pass(core::duration d)
    {
        const core::time_point end = now + d;
        for (wake(); redlock.wake_at() <= end; wake())
            now = redlock.wake_at();
        now = end;
    }

    // Time passes without anybody noticing, as when the machine was suspended.
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
        for (auto& [name, b] : open) { // who waits goes on as long as the node answers
            if (b.queued && b.now == stage::asking)
                b.deadline = limit_of(b);
        }
    }

    // All that a good node does at once.
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
