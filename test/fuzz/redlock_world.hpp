#pragma once

#include "redlock/redlock_core.hpp"

#include "fuzz/books.hpp"
#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/node.hpp"
#include "support/times.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::fuzz {

inline constexpr core::duration connect_timeout = std::chrono::seconds(2);
inline constexpr std::string_view token_start = "7e57c0de7e57c0de7e57";

inline std::vector<redis::node_settings> redlock_settings(std::size_t count)
{
    using namespace std::chrono_literals;
    std::vector<redis::node_settings> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = "node" + std::to_string(i);
        all[i] = {.where = {.host = name, .port = 6379, .path = {}},
            .name = name,
            .user = {},
            .password = {},
            .client_name = {},
            .connect_timeout = connect_timeout,
            .silence_timeout = 10s,
            .reconnect_min = 50ms,
            .reconnect_max = 2s,
            .max_requests = 32,
            .max_bytes = 16 * 1024};
    }
    return all;
}

// A Redlock core, its nodes, and the books of its claims. Every call of the core is followed by all
// that comes of it.
struct redlock_world {
    using stage = claim_book::stage;
    using event = core::backend_event::what;

    explicit redlock_world(input& choices)
        : in(choices),
          honest(in.flag()),
          nodes(1 + in.below(in.below(8) == 7 ? redis::max_nodes : 5)),
          redlock(redlock_settings(nodes.size()),
              in.flag() ? std::optional<core::duration>(std::chrono::milliseconds(50))
                        : std::nullopt,
              1)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            node& n = nodes[i];
            n.link = redlock.connections()[i];
            n.run_id = "run" + std::to_string(i);
            n.on_queued = [this, i](const node::command& c) {
                on_queued(i, c);
            };
            n.on_reply = [this, i](const node::command& c, redis::reply r) {
                on_reply(i, c, r);
            };
        }
        wake();
    }

    input& in;
    const bool honest; // nodes that are slow and unreliable, but never wrong
    std::vector<node> nodes;
    redis::redlock_core redlock;
    core::time_point now = test::start;
    std::map<std::uint64_t, claim_book> open; // by tag; not yet ended
    std::set<std::uint64_t> watches;

    // The open claim of a token, or null.
    claim_book* find(const std::string& token)
    {
        check(token.starts_with(token_start), "a token is sent as it was given");
        const auto found = open.find(std::stoul(token.substr(token_start.size())));
        return found == open.end() ? nullptr : &found->second;
    }

    void on_queued(std::size_t at, const node::command& c)
    {
        const words& text = c.text;
        if (text[0] == "SET") {
            claim_book* const b = find(text[2]);
            check(b != nullptr, "nothing is set for what has ended");
            check(text.size() == 6 && text[1] == b->resource && text[3] == "NX" &&
                      text[4] == "PX" &&
                      std::chrono::milliseconds(std::stoll(text[5])) == b->terms.ttl,
                "a SET says what was asked for");
            b->asked(at, c.queued, c.in_renewal);
        } else if (text[0].starts_with("EVAL")) {
            const std::size_t count = std::stoul(text[2]);
            const bool removes = text.size() == 5;
            for (std::size_t i = 0; i < count; ++i) {
                claim_book* const b = find(text[3 + count + 2 * i]);
                if (removes && b != nullptr)
                    b->removing(at);
                check(
                    removes || (b != nullptr && b->now == stage::held), "only leases are renewed");
            }
        }
    }

    void on_reply(std::size_t at, const node::command& c, redis::reply answer)
    {
        const words& text = c.text;
        const bool sure = nodes[at].sure;
        const resp::value& v = answer.front();
        if (text[0] == "SET") {
            if (claim_book* const b = find(text[2]))
                b->answered(at, answer, sure);
        } else if (text[0].starts_with("EVAL")) {
            const std::size_t count = std::stoul(text[2]);
            const bool removes = text.size() == 5;
            const bool usable = v.what == resp::kind::array && v.count == count;
            for (std::size_t i = 0; i < count; ++i) {
                claim_book* const b = find(text[3 + count + 2 * i]);
                if (b != nullptr && removes)
                    b->removed(v.what == resp::kind::integer && v.integer == 1);
                else if (b != nullptr && usable)
                    b->renewed(at, answer[i + 1].integer == 1, c.queued, sure);
            }
        }
    }

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
            if (e->kind == event::frees)
                check(watches.erase(e->tag) == 1, "a watch ends once");
            else
                take(*e);
        }
        for (const auto& [tag, b] : open) {
            check(!b.removal_seen || b.now == stage::releasing, "what is wanted is not removed");
            check(b.blurred || b.now != stage::held || b.told <= b.bound(),
                "a lease that has become shorter is told of");
        }
    }

    void take(const core::backend_event& e)
    {
        const auto found = open.find(e.tag);
        check(found != open.end(), "nothing is heard of a claim that has ended");
        claim_book& b = found->second;
        const stage expected = e.kind == event::granted || e.kind == event::refused ? stage::asking
                               : e.kind == event::released ? stage::releasing
                                                           : stage::held;
        check(b.now == expected, "an attempt, and a release, ends once");
        switch (e.kind) {
        case event::granted:
            check(e.valid_until - now > b.terms.useful, "a lease is long enough to be useful");
            check_exclusion(b);
            b.now = stage::held;
            [[fallthrough]];
        case event::validity:
            check(e.valid_until <= b.best(), "a lease lasts as long as a majority has granted");
            check(e.valid_until > now, "what is valid has not ended");
            b.told = e.valid_until;
            return;
        case event::lost:
            check(b.blurred || b.worst() <= now, "what a majority grants is not lost");
            b.told = core::long_ago;
            return;
        case event::refused:
            check(e.reason != errc{} && (e.reason != errc::contended || b.refusals > 0),
                "a refusal has a reason");
            break;
        case event::released:
            check(e.outcome != release_outcome::released || b.deletions > nodes.size() / 2,
                "released is what a majority has deleted");
            break;
        case event::frees:
            break;
        }
        open.erase(found);
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
            b.deadline =
                std::max(b.deadline, now + connect_timeout + redlock.patience(b.terms.ttl));
        wake();
    }

    void deliver(node& n, std::size_t most)
    {
        act([&] { n.deliver(most, now, [this] { look(false); }); });
    }

    // All that a good node does at once.
    void serve(node& n)
    {
        for (int rounds = 0; rounds < 4; ++rounds) {
            if (n.wants_to_open())
                act([&] { n.open(now); });
            n.take(SIZE_MAX);
            while (n.next() != nullptr)
                n.answer(n.execute(now));
            while (!n.answers.empty() && n.is_open())
                deliver(n, SIZE_MAX);
        }
    }
};

} // namespace holdfast::fuzz
