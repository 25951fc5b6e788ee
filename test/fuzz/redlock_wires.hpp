#pragma once

#include "fuzz/redlock_leases.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::fuzz {

using namespace std::chrono_literals;

// The records of the claims of a Redlock core according to the bytes on the wire.
struct redlock_wires : redlock_leases {
    explicit redlock_wires(input& choices) : redlock_leases(choices)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            node& n = nodes[i];
            n.link = redlock.connections()[i];
            n.run_id = "run" + std::to_string(i);
            n.on_queued = [this, i](node::command& c) {
                on_queued(i, c);
            };
            n.on_sent = [this, i](const node::command& c, core::duration waited) {
                on_sent(i, c, waited);
            };
            n.on_push = [this, i](redis::reply push) {
                on_push(i, push);
            };
            n.on_closed = [this, i] {
                looks[i].clear();
                leases.disconnected(i);
                for (auto& [name, b] : open)
                    b.disconnected(i);
            };
            n.on_reply = [this, i](const node::command& c, redis::reply r) {
                on_reply(i, c, r);
            };
        }
    }

    std::map<std::uint64_t, std::uint64_t> tagged; // names by present tag
    std::uint64_t looking = 0; // the name of the claim that is probed for waiters in this call
    std::map<std::size_t, std::deque<std::uint64_t>> looks; // by node: names in unanswered probes
    std::map<std::size_t, std::set<std::string>> places;    // by node: all places ever in a queue

    void on_queued(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (is_trial(text))
            return;
        if (text[0] == "SET") {
            claim_book* const b = holder_of(at, text[2]);
            if (b == nullptr)
                return;
            c.claims = {b->name};
            check(text.size() == 6 && text[1] == b->resource && text[3] == "NX" &&
                      text[4] == "PX" &&
                      std::chrono::milliseconds(std::stoll(text[5])) == b->terms.ttl,
                "a SET has the arguments of its attempt");
            b->asked(at, c.in_renewal);
            if (b->queued && b->now == stage::asking)
                b->deadline = limit_of(*b);
        } else if (text[0].starts_with("EVAL")) {
            on_call(at, c);
        } else if (text[0] == "ZREM") {
            check(may_be_queued(at, text[2]), "only a place in the queue is removed from it");
        } else if (text[0] == "EXISTS") {
            const auto asker = open.find(looking);
            check(asker != open.end() && text[1] == queue_of(asker->second.resource),
                "the core looks for waiters only when asked to");
            looks[at].push_back(looking);
        }
    }

    // Time runs from when the bytes are sent, but a minority of late nodes does not extend it. Only
    // one node is asked to give a lease.
    void on_sent(std::size_t at, const node::command& c, core::duration waited)
    {
        if (waited <= 1ms || c.text[0] != "EVALSHA" ||
            !(calls(c.text, redis::release_script) || calls(c.text, redis::pass_on_script) ||
                calls(c.text, redis::baton_script)))
            return;
        claim_book* const b = lease_of(at, argument(c.text, 0));
        if (b == nullptr || b->now != stage::releasing)
            return;
        if (calls(c.text, redis::baton_script) ||
            (b->late.insert(at).second && b->late.size() == redis::blocking(nodes.size())))
            b->deadline += waited;
    }

    static std::string queue_of(const std::string& resource)
    {
        return resource + std::string(redis::queue_suffix);
    }

    // A place in the queue of a node that is not, or not for this client, the queue node.
    void on_join(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        const std::string& place = place_argument(text);
        const claim_book* const b = find(place.substr(0, token_length));
        check(b != nullptr && text[3] == b->resource && text[4] == queue_of(b->resource),
            "only open attempts enter a queue");
        check(b->terms.queue != core::queueing::none, "only attempts that may wait enter a queue");
        check(place.size() > entry_length && place.substr(entry_length) == nodes[at].channel(),
            "a waiter has subscribed to the channel of its place");
        check(ms(argument(text, 1)) > longest_silence,
            "a queue lasts longer than a waiter is silent");
        c.claims = {b->name};
        open.at(b->name).joined(at, std::string_view(place).substr(token_length, 16));
        asked[b->token] = now;
        places[at].insert(place);
    }

    void on_call(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (calls(text, redis::join_script))
            return on_join(at, c);
        if (calls(text, redis::owner_script) || calls(text, redis::untrack_script))
            return; // it changes nothing for good
        if (calls(text, redis::renew_script))
            return on_renewal(at, c);
        if (calls(text, redis::baton_script))
            return on_give(at, c);
        const bool queues = !calls(text, redis::release_script);
        const bool deletes = !calls(text, redis::enqueue_script);
        claim_book* const b = deletes ? lease_of(at, argument(text, 0)) : find(argument(text, 0));
        if (b != nullptr)
            check(text[3] == b->resource, "a script gets the key of its claim");
        if (queues)
            check_place(at, text,
                deletes        ? claims_of(at, argument(text, 0))
                : b != nullptr ? claims{b}
                               : claims());
        if (deletes)
            return deletions.push_back({.node = at, .value = argument(text, 0)});
        check(b != nullptr, "only open attempts enter a queue");
        check(ms(argument(text, 3)) == b->terms.ttl && ms(argument(text, 4)) > longest_silence,
            "a key has its ttl, and a queue lasts longer than a waiter is silent");
        check(b->terms.queue != core::queueing::none, "only attempts that may wait enter a queue");
        const std::string& place = argument(text, 2);
        b->enqueued(at, std::string_view(place).substr(32, 16), now);
        c.claims = {b->name};
        b->deadline = limit_of(*b);
        asked[b->token] = now;
        places[at].insert(place);
    }

    // A dishonest node can end the connection in the call that queues the request for the place.
    bool may_be_queued(std::size_t at, const std::string& place) const
    {
        return (places.contains(at) && places.at(at).contains(place)) ||
               (!honest && nodes[at].ever_disconnected);
    }

    // What a script is asked for must suit one of these claims, if there are any.
    using claims = std::vector<const claim_book*>;
    static void check_one_of(const claims& all, auto suits, const char* promise)
    {
        check(all.empty() || std::any_of(all.begin(), all.end(), suits), promise);
    }

    // A place in a queue: the arguments that the queue node needs to hand off a key.
    void check_place(std::size_t at, const words& text, const claims& all) const
    {
        check(text[4] == queue_of(text[3]), "a script gets the queue of its key");
        const auto hand_off = ms(argument(text, 1));
        check(hand_off <= 500ms && hand_off > 0ms, "the ttl of a hand-off is short");
        check_one_of(
            all, [&](const claim_book* b) { return hand_off <= b->terms.ttl; },
            "the ttl of a hand-off is at most that of a lease");
        const std::string& place = argument(text, 2);
        if (calls(text, redis::pass_on_script) && text[2] == "3")
            check_window(text, all);
        if (calls(text, redis::enqueue_script))
            check(place.size() > 48 && place.starts_with(argument(text, 0)) &&
                      place.substr(48) == nodes[at].channel(),
                "a waiter has subscribed to the channel of its place");
        else
            check(place.empty() || may_be_queued(at, place),
                "only a place in the queue is removed from it");
    }

    // The window that the release of a lease asks for.
    static void check_window(const words& text, const claims& all)
    {
        check(text[5] == text[3] + std::string(redis::window_suffix),
            "a script gets the window of its key");
        const auto suits = [&text](const claim_book* b) {
            const core::polling_params& terms = b->terms.polling;
            return terms.window_ms != 0 && ms(argument(text, 4)) == terms.period() &&
                   ms(argument(text, 3)) == terms.period() - terms.window();
        };
        check_one_of(all, suits, "a window has the length and the period of the terms");
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
            claim_book* const b = holder_of(at, text[3 + count + 2 * i]);
            c.claims.push_back(b != nullptr ? b->name : 0);
            if (b == nullptr)
                continue;
            check(text[3 + i] == b->resource && ms(text[4 + count + 2 * i]) == b->terms.ttl,
                "a renewal has the arguments of its claims");
            if (c.confirms) {
                b->confirming(at, text[0] == "EVAL");
                b->deadline = std::max(b->deadline, limit_of(*b));
            } else {
                b->renewing(at);
                check(b->now == stage::held, "only leases are renewed");
            }
        }
    }

    void on_reply(std::size_t at, const node::command& c, redis::reply answer)
    {
        const words& text = c.text;
        const bool sure = nodes[at].sure;
        const resp::value& v = answer.front();
        // A dishonest node can answer a command that has only just been queued. If the connection
        // is closed then, this world never sees the command.
        for (auto& [name, b] : open)
            b.blurred = b.blurred || (!sure && !honest);
        if (is_trial(text))
            return;
        if (text[0] == "SET") {
            if (claim_book* const b = claim_at(c, 0))
                b->answered(at, answer, c.queued, now, c.in_renewal, sure);
        } else if (text[0] == "EXISTS") {
            const auto asker = open.find(looks[at].front());
            looks[at].pop_front();
            if (asker != open.end()) {
                claim_book& b = asker->second;
                b.blurred = b.blurred || !sure;
                b.found_alone += v.kind == resp::value_kind::integer && v.integer == 0 ? 1u : 0u;
            }
        } else if (text[0].starts_with("EVAL")) {
            on_script_reply(at, c, answer);
        }
    }

    void on_script_reply(std::size_t at, const node::command& c, redis::reply answer)
    {
        const words& text = c.text;
        const bool sure = nodes[at].sure;
        const resp::value& v = answer.front();
        if (calls(text, redis::owner_script) || calls(text, redis::untrack_script))
            return;
        if (calls(text, redis::baton_script))
            return on_give_answered(at, c, answer);
        if (calls(text, redis::join_script) || calls(text, redis::enqueue_script)) {
            if (claim_book* const b = claim_at(c, 0)) {
                b->has_place(at);
                const bool is_turn = v.kind == resp::value_kind::integer && v.integer == 0;
                if (is_turn && calls(text, redis::enqueue_script))
                    b->in_turn(at, c.queued, sure);
                else if (is_turn)
                    b->notified(
                        at, std::string_view(place_argument(text)).substr(token_length, 16), sure);
            }
        } else if (!calls(text, redis::renew_script)) {
            on_deleted(at, text, v);
        }
        if (v.kind == resp::value_kind::blob_string && !place_in(text).empty()) {
            const std::string& place = place_argument(text);
            if (const auto b = gift_in(answer))
                on_gift(at, *b, place.substr(0, token_length),
                    std::string_view(place).substr(token_length, 16), sure);
        }
        if (!calls(text, redis::renew_script))
            return;
        const std::size_t count = std::stoul(text[2]);
        const bool usable = v.kind == resp::value_kind::array && v.count == count;
        for (std::size_t i = 0; i < count; ++i) {
            claim_book* const b = claim_at(c, i);
            if (b != nullptr && !c.confirms)
                b->renewal_ends(at);
            const bool ours = usable && answer[i + 1].integer == 1;
            if (b != nullptr && c.confirms && (usable || v.kind == resp::value_kind::error))
                b->confirmed(at, ours, c.queued, sure);
            else if (b != nullptr && usable)
                b->renewed(at, ours, c.queued, now, sure);
        }
    }

    // The open claim for which a command was queued, or null.
    claim_book* claim_at(const node::command& c, std::size_t i)
    {
        const auto found = open.find(i < c.claims.size() ? c.claims[i] : 0);
        return found == open.end() ? nullptr : &found->second;
    }

    void on_deleted(std::size_t at, const words& text, const resp::value& v)
    {
        const std::string& value = argument(text, 0);
        const bool is_number = v.kind == resp::value_kind::integer;
        if (is_number || (v.kind == resp::value_kind::blob_string && !place_in(text).empty())) {
            for (holding* const h : leases.with(at, value))
                h->deleted(at, is_number && v.integer != 0);
        }
        if (claim_book* const b = lease_of(at, value))
            b->removed(is_number && v.integer != 0, nodes[at].sure);
    }

    void on_push(std::size_t at, redis::reply push)
    {
        if (const auto b = gift_in(push))
            return on_gift(
                at, *b, place_in(push), push[3].text.substr(token_length, 16), nodes[at].sure);
        if (push.size() < 4 || push[1].text != "message" || push[3].text.size() != 48)
            return;
        for (auto& [name, b] : open) {
            if (push[3].text.starts_with(b.token))
                b.notified(at, push[3].text.substr(32), nodes[at].sure);
        }
    }
};

} // namespace holdfast::fuzz
