#pragma once

#include "core/backend.hpp"
#include "redis/quorum/majority.hpp"
#include "resp/reader.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/leases.hpp"
#include "fuzz/replies.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

using namespace std::chrono_literals;

// The possible validity of a claim, computed from the bytes on the wire. It is independent of the
// library's own computation, with which it is compared.
class claim_book {
public:
    enum class stage { asking, held, releasing, ended };

    std::uint64_t tag = 0;  // of its events
    std::uint64_t name = 0; // its first tag
    core::claim_id id = 0;
    std::string resource, token;
    core::claim_params terms{};
    stage now = stage::asking;
    core::time_point deadline{};            // of the attempt, or of the release
    core::time_point told = core::long_ago; // the validity that the backend reported
    std::size_t nodes = 0, refusals = 0, deletions = 0, found_alone = 0;
    std::set<std::size_t> late; // nodes that accepted the deletion of its release late
    bool removal_seen = false;
    bool queued = false;                    // it is or was in a queue
    holding* lease = nullptr;               // its own one, or one that was given to it
    core::time_point entered = core::never; // when it first asked for a place
    core::time_point released_at{};
    bool given_away = false;
    // It may have been given a lease, or its turn may have come: a lease that a node gives it may
    // be taken or discarded.
    bool gift_in_doubt = false;
    // True if the library's view is not known exactly: a connection was closed between several
    // replies, so the later ones were not read, or replies came together and their order is
    // unknown.
    bool blurred = false;

    // A command of this claim was queued for a node.
    void asked(std::size_t node, bool to_repair)
    {
        place& p = at_[node];
        check(!p.removing, "there is no SET after a deletion");
        check(now == stage::asking || now == stage::held, "there is no SET for an ended claim");
        if (to_repair) {
            check(now == stage::held, "only a lease is repaired");
            p.may_count = p.ours = false;
            p.repairing = true;
            return;
        }
        ++p.sets;
        ++p.open;
        p.may_count = !p.lost;
        round_ = true;
    }

    void enqueued(std::size_t node, std::string_view reference, core::time_point when)
    {
        joined(node, reference);
        queue_node_ = node;
        entered = std::min(entered, when);
    }

    void joined(std::size_t node, std::string_view reference)
    {
        place& p = at_[node];
        check(!p.removing && now == stage::asking, "only open attempts enter a queue");
        check(!p.queued || p.reference == reference, "a claim has one place in each queue");
        p.queued = queued = true;
        p.reference = reference;
        ++p.joins;
    }

    // A request for a place is answered.
    void has_place(std::size_t node) { at_[node].joins -= at_[node].joins > 0 ? 1u : 0u; }

    void confirming(std::size_t node, bool again)
    {
        place& p = at_[node];
        check(!p.removing && (now == stage::asking || now == stage::held),
            "an ended claim confirms no turn");
        ++p.open;
        p.confirms += again ? 0u : 1u;
    }

    void renewing(std::size_t node) { ++at_[node].renewing; }

    void removing(std::size_t node) { at_[node].removing = removal_seen = true; }

    void removed(bool was_ours, bool sure)
    {
        blurred = blurred || !sure;
        deletions += was_ours ? 1u : 0u;
    }

    // The answer to a SET that was queued at `sent`. `sure`: the library has certainly read it.
    void answered(std::size_t node, std::span<const resp::value> reply, core::time_point sent,
        core::time_point when, bool to_repair, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        if (to_repair)
            p.repairing = false;
        else
            close_one(p);
        const resp::value& v = reply.front();
        if (v.kind == resp::value_kind::simple_string && v.text == "OK") {
            if (to_repair)
                set_again(p, sent, when);
            else
                grant(p, sent);
        } else if (v.kind == resp::value_kind::null) {
            ++refusals;
            p.refused += to_repair ? 0u : 1u;
            forget(p, sure && !p.ours); // if ours, the refusal is due to our own key
        } else if (v.kind == resp::value_kind::error) {
            forget(p, sure && !p.ours);
        }
        compare();
    }

    // The queue node answers that it is our turn. When we wait elsewhere, or have gone on without
    // our turn, it has to be confirmed.
    void in_turn(std::size_t node, core::time_point sent, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        const bool counts = !turn_ && !round_was_ && p.sets == 0 && queue_node_ == node;
        if (!counts)
            notified(node, p.reference, sure);
        if (now != stage::asking || (!counts && !blurred))
            return;
        gift_in_doubt = gift_in_doubt || !counts; // a gift is only taken before the turn
        turn_ = true;
        p.queued = false;
        grant(p, sent);
        compare();
    }

    // The queue node notifies us of our turn. This is not a grant yet.
    void notified(std::size_t node, std::string_view reference, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        if (p.reference != reference)
            return;
        ++p.pushes;
        if (!p.queued)
            return;
        gift_in_doubt = gift_in_doubt || !sure;
        turn_ = true;
        queue_node_ = node;
    }

    void confirmed(std::size_t node, bool ours, core::time_point sent, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        close_one(p);
        if (ours) {
            p.queued = false;
            grant(p, sent);
        } else {
            ++p.refused;
            if (p.ours)
                lose(p, core::long_ago, sure);
            forget(p, sure);
        }
        compare();
    }

    // A renewal is answered, perhaps by an error.
    void renewal_ends(std::size_t node) { at_[node].renewing -= at_[node].renewing > 0 ? 1u : 0u; }

    void renewed(
        std::size_t node, bool confirmed, core::time_point sent, core::time_point when, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure || (!confirmed && p.open > p.open_was);
        if (confirmed && p.may_count && !p.lost) {
            grant(p, sent);
        } else if (confirmed) {
            set_again(p, sent, when);
        } else {
            lose(p, sent, sure);
            if (p.open == 0) // otherwise a new request is already under way
                forget(p, sure);
        }
        compare();
    }

    // The requests to this node will not be answered any more.
    void disconnected(std::size_t node)
    {
        place& p = at_[node];
        strayed_ = strayed_ || p.is_asked();
        p.open = p.open_was = p.renewing = p.joins = 0;
        p.repairing = false;
    }

    // Whether a lease that a node gives now is taken, and not discarded.
    bool takes(std::size_t node, std::string_view reference) const
    {
        return now == stage::asking && !turn_ && !round_was_ && at_[node].queued &&
               at_[node].reference == reference;
    }

    // A node has given us the lease of another client: the keys of all nodes are ours. Only those
    // that are confirmed count if less than two thirds of a ttl are left, the keys outlast a ttl of
    // ours, or the lease must begin with a whole one.
    void given(holding& h, const redis::baton& b, core::time_point when)
    {
        lease = &h;
        turn_ = true;
        const core::duration lasts = std::min<core::duration>(b.left - b.lag - 2ms, terms.ttl);
        const core::time_point until = entered + lasts - terms.drift;
        const bool counts = until - when > std::max(terms.ttl * 2 / 3, terms.guard) &&
                            b.left <= terms.ttl && !terms.whole_ttl;
        for (std::size_t i = 0; i < nodes; ++i) {
            place& p = at_[i];
            p.may_count = true;
            p.ours = counts;
            p.until = std::max(p.until, until);
            p.pushes += counts ? 0u : 1u; // may be confirmed once more
        }
        compare();
    }

    // The same, but it is not known whether the core has read it.
    void may_be_given()
    {
        gift_in_doubt = true;
        for (place& p : at_)
            ++p.pushes;
    }

    // A node was asked to give the lease in the latest call, whose replies have been read.
    void check_gift(std::size_t node, core::time_point when) const
    {
        check(now == stage::releasing && !removal_seen, "only a released lease is given");
        check(!strayed_, "no lease is given after a lost answer");
        for (std::size_t i = 0; i < nodes; ++i)
            check(!at_[i].is_asked(), "no lease is given with a request under way");
        check(blurred || at_[node].ours, "a lease is given where its key is");
        check(blurred || bound() - when >= terms.ttl * 7 / 10, "a fresh lease is given");
        check(released_at - entered <= 1s, "a lease is given soon after it was waited for");
    }

    const std::string& value_at(std::size_t node) const { return lease->value_at(node); }

    // Checks the requests of the latest call, after all replies have been read.
    void check_requests() const
    {
        for (const place& p : at_) {
            check(p.sets <= 1 + p.refused, "a node is asked again only after a refusal");
            check(p.sets <= 1 || turn_, "a node is asked again only after a hand-off");
            check(p.sets <= 1 + most_refusals, "a node is asked again a limited number of times");
            check(p.confirms <= p.pushes, "a turn is confirmed only after its notification");
        }
    }

    // The end of the lease as granted by a majority, according to the replies so far.
    core::time_point bound() const
    {
        std::array<core::time_point, redis::max_nodes> ends{};
        ends.fill(core::long_ago);
        for (std::size_t i = 0; i < nodes; ++i)
            ends[i] = at_[i].ours ? at_[i].until : core::long_ago;
        std::sort(ends.begin(), ends.end(), std::greater<>());
        return ends[nodes / 2]; // a majority has this end or a later one
    }

    // The largest and the smallest bound since begin().
    void begin()
    {
        best_ = worst_ = bound();
        round_was_ = round_;
        for (place& p : at_)
            p.open_was = p.open;
    }
    core::time_point best() const { return best_; }
    core::time_point worst() const { return worst_; }

private:
    static constexpr std::size_t most_refusals = 8;

    struct place {
        bool is_asked() const { return open + renewing + joins > 0 || repairing; }

        bool may_count = false; // asked in this round, and the key was not found missing since
        bool ours = false;
        bool lost = false; // it had forgotten the key: no grant of this node counts before `until`
        bool removing = false;
        bool queued = false;
        std::string reference; // of the place in the queue
        std::size_t sets = 0, refused = 0, pushes = 0, confirms = 0;
        std::size_t open = 0, open_was = 0;  // requests that may make it ours
        std::size_t renewing = 0, joins = 0; // under way, too
        bool repairing = false;
        core::time_point until = core::long_ago;
    };

    static void close_one(place& p)
    {
        p.open -= p.open > 0 ? 1u : 0u;
        p.open_was -= p.open_was > 0 ? 1u : 0u;
    }

    void grant(place& p, core::time_point sent)
    {
        p.ours = p.may_count = !p.lost;
        if (!p.lost)
            p.until = std::max(p.until, sent + terms.ttl - terms.drift);
    }

    // The key is there again. It counts if a majority is there without it.
    void set_again(place& p, core::time_point sent, core::time_point when)
    {
        p.ours = false;
        if ((p.lost && sent < p.until) || bound() <= when)
            return;
        p.lost = false;
        grant(p, sent);
    }

    // Only a reply that was certainly read has an effect here.
    void forget(place& p, bool sure)
    {
        if (!sure)
            return;
        p.ours = false;
        p.may_count = p.may_count && p.open > 0;
    }

    static void lose(place& p, core::time_point sent, bool sure)
    {
        if (!sure)
            return;
        p.lost = p.lost || sent < p.until;
        p.ours = false;
        if (!p.lost)
            p.until = core::long_ago;
    }

    void compare()
    {
        best_ = std::max(best_, bound());
        worst_ = std::min(worst_, bound());
    }

    std::array<place, redis::max_nodes> at_{};
    std::size_t queue_node_ = redis::max_nodes;
    bool turn_ = false;  // our turn has come
    bool round_ = false; // the nodes have been asked
    bool round_was_ = false;
    bool strayed_ = false; // the answer to a request about a key or a place was lost
    core::time_point best_{}, worst_{};
};

} // namespace holdfast::fuzz
