#pragma once

#include "redis/redlock_core.hpp"

#include "fuzz/books.hpp"
#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/leases.hpp"
#include "fuzz/node_commands.hpp"
#include "fuzz/redlock_settings.hpp"
#include "support/times.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::fuzz {

inline constexpr core::duration longest_silence = std::chrono::seconds(1); // of a waiter
inline constexpr std::string_view token_start = "7e57c0de7e57c0de7e57";

// A Redlock core, its nodes, and who has which lease according to the bytes on the wire: the claims
// of the core give leases to each other, and processes that are not part of this world give and get
// some.
struct redlock_leases {
    using stage = claim_book::stage;
    using passing = holding::state;

    explicit redlock_leases(input& choices)
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
            n.on_coming = [this, i](const node::command* c, redis::reply r) {
                on_coming(i, c, r);
            };
            n.on_giving = [this, i](const std::string& key, const words& text) {
                check_lag(i, key, text);
            };
            n.on_given = [this, i](const std::string& token, const std::string& place) {
                on_given(i, token, place);
            };
        }
    }

    input& in;
    const bool honest; // the nodes may be slow and unreliable, but give no wrong answers
    std::vector<node> nodes;
    redis::redlock_core redlock;
    core::time_point now = test::start;
    std::map<std::uint64_t, claim_book> open; // by name; not yet ended
    lease_book leases;
    std::set<std::string> away;     // tokens of leases that other processes have
    std::set<std::string> not_told; // given to our claims, which have not been told yet
    std::map<std::string, core::time_point> asked; // by token of a place: the latest request for it
    std::set<std::string> muddled;                 // tokens: see is_muddled()

    struct deletion {
        std::size_t node = 0;
        std::string value;
    };
    std::vector<deletion> deletions; // queued in the latest call
    struct gift {
        std::uint64_t name = 0;
        std::size_t node = 0;
        core::time_point when{};
    };
    std::vector<gift> gifts; // the same
    std::vector<gift> kept;  // leases that the nodes have not given

    // The open claim with this token of its own, or null.
    claim_book* find(const std::string& token)
    {
        check(token.starts_with(token_start) && token.size() == token_length,
            "an owner token is sent unchanged");
        const auto found = open.find(std::stoul(token.substr(token_start.size())));
        return found == open.end() ? nullptr : &found->second;
    }

    // Whether dishonest nodes have made several claims holders of one lease, or have told a claim
    // of a lease before this world knew. Then it cannot tell their requests apart.
    bool is_muddled(const std::string& value)
    {
        const std::string token = value.substr(0, token_length);
        if (leases.holders(token) > 1 && !muddled.contains(token)) {
            check(!honest, "honest nodes give each lease to one claim");
            muddle(token);
        }
        return muddled.contains(token);
    }

    void muddle(const std::string& token)
    {
        muddled.insert(token);
        for (auto& [name, b] : open)
            b.blurred = b.blurred || b.lease->token == token;
    }

    // The open claim whose lease has this value at a node, or is coming to it now. Null only if the
    // lease is muddled.
    claim_book* holder_of(std::size_t at, const std::string& value)
    {
        if (is_muddled(value))
            return nullptr;
        claim_book* found = nullptr;
        for (const holding* const h : leases.with(at, value)) {
            claim_book* const b = find(h->place);
            if (b != nullptr && h->now != passing::given &&
                (b->lease == h || b->lease->place == b->lease->token) &&
                (found == nullptr || h->now == passing::kept))
                found = b;
        }
        check(found != nullptr, "a value is that of an open claim's lease");
        return found;
    }

    // The open claim whose lease has this value at a node, or null.
    claim_book* lease_of(std::size_t at, const std::string& value)
    {
        claim_book* found = nullptr;
        for (const holding* const h : leases.with(at, value)) {
            claim_book* const b = is_muddled(value) ? nullptr : find(h->place);
            if (b != nullptr && b->lease == h && (found == nullptr || b->now == stage::releasing))
                found = b;
        }
        return found;
    }

    // The open claims that have, had or get a lease with this value at a node: of one that is
    // given, both the giver and the receiver, if the giver does not know yet. Empty if the lease is
    // muddled.
    std::vector<const claim_book*> claims_of(std::size_t at, const std::string& value)
    {
        std::vector<const claim_book*> all;
        if (is_muddled(value))
            return all;
        for (const holding* const h : leases.with(at, value)) {
            const claim_book* const b = find(h->place);
            if (b == nullptr)
                return {}; // it has ended: its terms are not known any more
            all.push_back(b);
        }
        return all;
    }

    void on_coming(std::size_t at, const node::command* c, redis::reply r)
    {
        const bool is_push = r.front().kind == resp::value_kind::push;
        if (!is_push && r.front().kind != resp::value_kind::blob_string)
            return;
        const auto b = gift_in(r);
        if (!b)
            return;
        const std::string place = is_push        ? place_in(r)
                                  : c != nullptr ? place_in(c->text)
                                                 : std::string();
        if (note_gift(at, *b, place) == nullptr && !is_push)
            muddle(std::string(b->token.view()));
    }

    // Whether a place may be left in a queue although the core does not know its claim any more:
    // the request to remove it is lost, and the queue should have ended.
    bool is_forgotten(std::size_t at, const std::string& place)
    {
        return nodes[at].ever_disconnected && find(place) == nullptr &&
               now >= asked[place] + redis::queue_ttl;
    }

    holding* note_gift(std::size_t at, const redis::baton& b, const std::string& place)
    {
        if (!place.starts_with(token_start) || !leases.knows(place))
            return nullptr;
        const std::string token(b.token.view());
        not_told.erase(token);
        if (is_forgotten(at, place))
            away.insert(token);
        else
            away.erase(token);
        return &leases.gave(at, b, place);
    }

    // A node has told us of a lease that was given to a place.
    void on_gift(std::size_t at, const redis::baton& b, const std::string& place,
        std::string_view reference, bool sure)
    {
        holding* const h = note_gift(at, b, place);
        claim_book* const c = h != nullptr ? find(place) : nullptr;
        if (c == nullptr)
            return;
        c->blurred = c->blurred || !sure || is_muddled(h->token);
        if (!sure || c->gift_in_doubt) { // the core may have ended the connection before
            muddle(h->token);
            muddle(c->lease->token);
            c->may_be_given();
            c->deadline = std::max(c->deadline, limit_of(*c));
            return;
        }
        const bool is_discarded = std::any_of(deletions.begin(), deletions.end(),
            [&](const deletion& d) { return d.value == h->value_at(d.node) && d.value != place; });
        if (is_discarded || h->token == c->lease->token || !c->takes(at, reference))
            return;
        c->lease->own_keys_only = true;
        c->given(*h, b, now);
        c->deadline = std::max(c->deadline, limit_of(*c));
    }

    // Whether a node is asked again, by text, to give a lease, and the release has ended meanwhile.
    bool is_late_repeat(std::size_t at, const words& text)
    {
        for (holding* const h : leases.with(at, argument(text, 0))) {
            if (text[0] == "EVAL" && h->now == passing::asked && h->asked_node == at &&
                find(h->place) == nullptr) {
                ++h->requests;
                return true;
            }
        }
        return false;
    }

    // A claim has asked a node to give its lease.
    void on_give(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (is_late_repeat(at, text))
            return;
        claim_book* const b = holder_of(at, argument(text, 0));
        if (b == nullptr)
            return;
        check(b->value_at(at) == argument(text, 0), "only a lease is given");
        check(text.size() == 8 && text[3] == b->resource &&
                  text[4] == b->resource + std::string(redis::queue_suffix),
            "a script gets the key of its claim and its queue");
        const auto hand_off = ms(argument(text, 2));
        check(hand_off > 0ms && hand_off <= std::min<core::duration>(500ms, b->terms.ttl),
            "the ttl of a hand-off is short");
        check_lag_text(argument(text, 1));
        holding& h = *b->lease;
        const bool is_first = h.now == passing::kept && h.asked_node == redis::max_nodes;
        check(is_first || (h.now == passing::asked && at == h.asked_node && text[0] == "EVAL"),
            "a lease is given once");
        check(h.node == redis::max_nodes || h.node == at, "a lease is given where it came from");
        check(!b->removal_seen &&
                  std::none_of(deletions.begin(), deletions.end(),
                      [&h](const deletion& d) { return d.value == h.value_at(d.node); }),
            "no lease is given after a deletion");
        h.now = passing::asked;
        h.asked_node = at;
        ++h.requests;
        c.claims = {b->name};
        if (is_first)
            gifts.push_back({.name = b->name, .node = at, .when = now});
    }

    static void check_lag_text(const std::string& terms)
    {
        check(terms.size() > 1 && terms[0] == ' ' &&
                  std::all_of(
                      terms.begin() + 1, terms.end(), [](char c) { return c >= '0' && c <= '9'; }),
            "a lease is given with its lag");
    }

    void on_give_answered(std::size_t at, const node::command& c, redis::reply answer)
    {
        const std::string& value = argument(c.text, 0);
        claim_book* b = nullptr;
        if (const auto found = open.find(c.claims.empty() ? 0 : c.claims.front());
            found != open.end())
            b = &found->second;
        const resp::value& v = answer.front();
        const bool is_number = v.kind == resp::value_kind::integer;
        for (holding* const h : leases.with(at, value)) {
            if (h->asked_node != at || h->requests == 0 || --h->requests > 0)
                continue; // it was asked again by text
            const bool given = is_number && v.integer == 2;
            const bool is_outcome = v.kind == resp::value_kind::error ||
                                    (is_number && v.integer >= 0 && v.integer <= 3);
            // The core may have ended the connection before, and not know it.
            if (h->now == passing::asked)
                h->now = !is_outcome || (given && !nodes[at].sure) ? passing::in_doubt
                         : given                                   ? passing::given
                                                                   : passing::kept;
            if (b == nullptr || b->lease != h)
                continue;
            b->blurred = b->blurred || !nodes[at].sure;
            b->given_away = b->given_away || given;
            if (is_number && v.integer == 3)
                b->removed(true, nodes[at].sure);
            if (nodes[at].sure &&
                ((is_number && v.integer == 1) || v.kind == resp::value_kind::error))
                kept.push_back({.name = b->name, .node = at});
        }
    }

    // Before a node gives a lease: the majority of the keys does not end earlier than is said.
    void check_lag(std::size_t at, const std::string& key, const words& text)
    {
        const std::string& value = argument(text, 0);
        const auto there = nodes[at].keys.find(key);
        if (!honest || there == nodes[at].keys.end() || there->second.token != value)
            return;
        std::vector<core::time_point> ends;
        for (const node& n : nodes) {
            const auto found = n.keys.find(key);
            const std::string& wanted = &n == &nodes[at] ? value : value.substr(0, token_length);
            ends.push_back(
                found != n.keys.end() && found->second.token == wanted ? found->second.until : now);
        }
        std::sort(ends.begin(), ends.end(), std::greater<>());
        check(there->second.until - ms(argument(text, 1).substr(1)) <=
                  std::max(ends[nodes.size() / 2], now),
            "a majority of the keys lasts as long as a given lease");
    }

    void on_given(std::size_t at, const std::string& token, const std::string& place)
    {
        const bool to_us = place.substr(entry_length) == nodes[at].channel();
        away.erase(token);
        (to_us ? not_told : away).insert(token);
    }

    // After all replies of a call have been read: what was given or deleted in it.
    void check_leases()
    {
        for (const gift& g : std::exchange(gifts, {})) {
            if (const auto found = open.find(g.name); found != open.end())
                found->second.check_gift(g.node, g.when);
        }
        for (const gift& g : std::exchange(kept, {})) {
            const auto found = open.find(g.name);
            check(found == open.end() || std::any_of(deletions.begin(), deletions.end(),
                                             [&](const deletion& d) {
                                                 return d.node == g.node &&
                                                        d.value == found->second.value_at(d.node);
                                             }),
                "the keys of a lease that is not given are deleted");
        }
        for (const deletion& d : std::exchange(deletions, {}))
            check_deletion(d);
    }

    void check_deletion(const deletion& d)
    {
        check(!honest || leases.knows(d.value.substr(0, token_length)),
            "the value of a key has the token of a lease");
        bool may_be = is_muddled(d.value);
        for (holding* const h : leases.with(d.node, d.value)) {
            claim_book* const b = is_muddled(d.value) ? nullptr : find(h->place);
            if (b != nullptr && b->lease == h)
                b->removing(d.node);
            may_be = may_be || h->own_keys_only || h->may_be_deleted(d.node);
        }
        check(may_be, "the keys of a lease that was given are not deleted");
    }

    // The time by which an attempt has ended or, if it is queued, has sent another command. While
    // too few nodes answer, it keeps its places and waits, until its queue node counts as dead.
    core::time_point limit_of(const claim_book& b) const
    {
        const core::duration patience = redlock.patience(b.terms.ttl);
        return now + connect_timeout + patience +
               (b.queued ? longest_silence + silence_timeout + patience : 0s);
    }
};

} // namespace holdfast::fuzz
