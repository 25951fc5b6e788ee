#pragma once

#include "redlock/redlock_core.hpp"

#include "fuzz/books.hpp"
#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/node_commands.hpp"
#include "support/times.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::fuzz {

using namespace std::chrono_literals;

inline constexpr core::duration connect_timeout = std::chrono::seconds(2);
inline constexpr core::duration longest_silence = std::chrono::seconds(1); // of who waits
inline constexpr std::string_view token_start = "7e57c0de7e57c0de7e57";

inline std::vector<redis::node_settings> redlock_settings(std::size_t count)
{
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
            n.on_queued = [this, i](node::command& c) {
                on_queued(i, c);
            };
            n.on_push = [this, i](redis::reply push) {
                on_push(i, push);
            };
            n.on_closed = [this, i] {
                looks[i].clear();
                for (auto& [name, b] : open)
                    b.disconnected(i);
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
    std::map<std::uint64_t, claim_book> open;      // by name; not yet ended
    std::map<std::uint64_t, std::uint64_t> tagged; // the names, by the tag that they have now
    std::set<std::uint64_t> watches;
    std::uint64_t looking = 0; // the name of whose others are looked for in this call
    std::map<std::size_t, std::deque<std::uint64_t>> looks; // by node, not answered: names
    std::map<std::size_t, std::set<std::string>> places;    // by node: in its queues, ever
    bool tricked = false; // somebody was told of his turn, and it was not

    // The open claim of a token, or null.
    claim_book* find(const std::string& token)
    {
        check(token.starts_with(token_start), "a token is sent as it was given");
        const auto found = open.find(std::stoul(token.substr(token_start.size())));
        return found == open.end() ? nullptr : &found->second;
    }

    void on_queued(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (text[0] == "SET") {
            claim_book* const b = find(text[2]);
            check(b != nullptr, "nothing is set for what has ended");
            check(text.size() == 6 && text[1] == b->resource && text[3] == "NX" &&
                      text[4] == "PX" &&
                      std::chrono::milliseconds(std::stoll(text[5])) == b->terms.ttl,
                "a SET says what was asked for");
            b->asked(at, c.in_renewal);
            if (b->queued && b->now == stage::asking)
                b->deadline = limit_of(*b);
        } else if (text[0].starts_with("EVAL")) {
            on_call(at, c);
        } else if (text[0] == "EXISTS") {
            const auto asker = open.find(looking);
            check(asker != open.end() && text[1] == queue_of(asker->second.resource),
                "others are looked for when that was asked");
            looks[at].push_back(looking);
        }
    }

    static std::string queue_of(const std::string& resource)
    {
        return resource + std::string(redis::queue_suffix);
    }

    void on_call(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (calls(text, redis::renew_script))
            return on_renewal(at, c);
        const bool queues = !calls(text, redis::release_script);
        claim_book* const b = find(text[queues ? 5 : 4]);
        if (b != nullptr)
            check(text[3] == b->resource, "a claim is of its resource");
        if (queues)
            check_place(at, text, b);
        if (!calls(text, redis::enqueue_script))
            return b != nullptr ? b->removing(at) : void();
        check(b != nullptr, "only what is wanted stands in a queue");
        check(ms(text[8]) == b->terms.ttl && ms(text[9]) > longest_silence,
            "a queue lasts for longer than anybody is silent");
        check(b->terms.queue != core::queueing::none, "who does not want to wait does not");
        b->enqueued(at, std::string_view(text[7]).substr(32, 16));
        b->deadline = limit_of(*b);
        places[at].insert(text[7]);
    }

    // A place in a queue: what the arbiter needs to know to hand a key over.
    void check_place(std::size_t at, const words& text, const claim_book* b) const
    {
        check(text[4] == queue_of(text[3]), "a queue belongs to a key");
        check(ms(text[6]) <= 500ms && ms(text[6]) > 0ms, "a hand-over is confirmed soon");
        check(b == nullptr || ms(text[6]) <= b->terms.ttl, "or lasts as long as a lease");
        const std::string& place = text[7];
        if (calls(text, redis::enqueue_script))
            check(place.size() > 48 && place.starts_with(text[5]) &&
                      place.substr(48) == nodes[at].channel(),
                "who waits can be told of it");
        else
            check(place.empty() || (places.contains(at) && places.at(at).contains(place)),
                "who leaves a queue stood in it");
    }

    void on_renewal(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        const std::size_t count = std::stoul(text[2]);
        const auto waits_for_it = [&text](const node::command& other) {
            return other.confirms && other.text[0] == "EVALSHA" && other.text[4] == text[4];
        };
        const auto& sent = nodes[at].unanswered();
        c.confirms = !c.in_renewal && count == 1 &&
                     (text[0] == "EVALSHA" || std::any_of(sent.begin(), sent.end(), waits_for_it));
        for (std::size_t i = 0; i < count; ++i) {
            claim_book* const b = find(text[3 + count + 2 * i]);
            check(b != nullptr && text[3 + i] == b->resource &&
                      ms(text[4 + count + 2 * i]) == b->terms.ttl,
                "a renewal says what was asked for");
            if (c.confirms) {
                b->confirming(at, text[0] == "EVAL");
                b->deadline = std::max(b->deadline, limit_of(*b));
            } else {
                check(b->now == stage::held, "only leases are renewed");
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
                b->answered(at, answer, c.queued, c.in_renewal, sure);
        } else if (text[0] == "EXISTS") {
            const auto asker = open.find(looks[at].front());
            looks[at].pop_front();
            if (asker != open.end() && v.what == resp::kind::integer && v.integer == 0)
                ++asker->second.found_alone;
        } else if (text[0].starts_with("EVAL")) {
            on_script_reply(at, c, answer);
        }
    }

    void on_script_reply(std::size_t at, const node::command& c, redis::reply answer)
    {
        const words& text = c.text;
        const bool sure = nodes[at].sure;
        const resp::value& v = answer.front();
        if (!calls(text, redis::renew_script)) {
            const bool queues = !calls(text, redis::release_script);
            claim_book* const b = find(text[queues ? 5 : 4]);
            if (b == nullptr)
                return;
            if (!calls(text, redis::enqueue_script))
                b->removed(v.what == resp::kind::integer && v.integer != 0);
            else if (v.what == resp::kind::integer && v.integer == 0)
                b->in_turn(at, c.queued, sure);
            return;
        }
        const std::size_t count = std::stoul(text[2]);
        const bool usable = v.what == resp::kind::array && v.count == count;
        for (std::size_t i = 0; i < count; ++i) {
            claim_book* const b = find(text[3 + count + 2 * i]);
            const bool ours = usable && answer[i + 1].integer == 1;
            if (b != nullptr && c.confirms && (usable || v.what == resp::kind::error))
                b->confirmed(at, ours, c.queued, sure);
            else if (b != nullptr && usable)
                b->renewed(at, ours, c.queued, sure);
        }
    }

    void on_push(std::size_t at, redis::reply push)
    {
        if (push.size() < 4 || push[1].text != "message" || push[3].text.size() != 48)
            return;
        for (auto& [name, b] : open) {
            if (push[3].text.starts_with(b.token))
                b.notified(at, push[3].text.substr(32));
        }
    }

    // When an attempt that waits for its turn has done something, or has ended.
    core::time_point limit_of(const claim_book& b) const
    {
        const core::duration patience = redlock.patience(b.terms.ttl);
        return now + connect_timeout + patience + (b.queued ? longest_silence + patience : 0s);
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
            check_nodes(b, e.valid_until);
            b.told = e.valid_until;
            return;
        case event::lost:
            check(b.blurred || b.worst() <= now, "what a majority grants is not lost");
            b.told = core::long_ago;
            return;
        case event::refused:
            check(e.reason != errc{} &&
                      (e.reason != errc::contended || b.refusals > 0 || b.queued),
                "a refusal has a reason");
            check(!honest || e.reason != errc::key_conflict, "and no other than there is");
            break;
        case event::released:
            check(e.outcome != release_outcome::released || b.deletions > nodes.size() / 2,
                "released is what a majority has deleted");
            break;
        case event::alone:
            check(b.found_alone-- > 0, "nobody is alone who was not looked for");
            return;
        case event::frees:
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
            n.take(SIZE_MAX);
            while (n.next() != nullptr)
                n.answer(n.execute(now));
            while (!n.answers.empty() && n.is_open())
                deliver(n, SIZE_MAX);
        }
    }
};

} // namespace holdfast::fuzz
