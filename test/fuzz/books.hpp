#pragma once

#include "core/backend.hpp"
#include "redis/majority.hpp"
#include "resp/reader.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/replies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

// What a claim can be worth, by the bytes that went to and fro. Kept apart from the library's own
// books, with which it is compared.
class claim_book {
public:
    enum class stage { asking, held, releasing, ended };

    std::uint64_t tag = 0;  // of its events
    std::uint64_t name = 0; // the tag that it was begun with
    core::claim_id id = 0;
    std::string resource, token;
    core::claim_params terms{};
    stage now = stage::asking;
    core::time_point deadline{};            // of the attempt, or of the release
    core::time_point told = core::long_ago; // the validity that the backend told
    std::size_t nodes = 0, refusals = 0, deletions = 0, found_alone = 0;
    bool removal_seen = false;
    bool queued = false; // it stands in a queue, or did
    // A connection was closed in the middle of several replies: what came after was not heard. Or
    // what came together does not tell what was first.
    bool blurred = false;

    // A command of this claim was queued for a node.
    void asked(std::size_t node, bool to_heal)
    {
        place& p = at_[node];
        check(!p.removing, "nothing is set behind a removal");
        check(now == stage::asking || now == stage::held, "nothing is set for what has ended");
        if (to_heal) {
            check(now == stage::held, "only a lease is healed");
            p.may_count = p.ours = false;
            return;
        }
        ++p.sets;
        ++p.open;
        p.may_count = !p.lost;
        round_ = true;
    }

    void enqueued(std::size_t node, std::string_view reference)
    {
        joined(node, reference);
        arbiter_ = node;
    }

    void joined(std::size_t node, std::string_view reference)
    {
        place& p = at_[node];
        check(!p.removing && now == stage::asking, "only an attempt stands in a queue");
        check(!p.queued || p.reference == reference, "a claim has one place in a queue");
        p.queued = queued = true;
        p.reference = reference;
    }

    void confirming(std::size_t node, bool again)
    {
        place& p = at_[node];
        check(!p.removing && (now == stage::asking || now == stage::held),
            "what has ended is not confirmed");
        ++p.open;
        p.confirms += again ? 0u : 1u;
    }

    void removing(std::size_t node) { at_[node].removing = removal_seen = true; }

    void removed(bool was_ours, bool sure)
    {
        blurred = blurred || !sure;
        deletions += was_ours ? 1u : 0u;
    }

    // The answer to a SET that was queued at `sent`. `sure`: the connection has certainly heard it.
    void answered(std::size_t node, std::span<const resp::value> reply, core::time_point sent,
        bool to_heal, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        if (!to_heal)
            close_one(p);
        const resp::value& v = reply.front();
        if (v.kind == resp::value_kind::simple_string && v.text == "OK") {
            if (!to_heal)
                grant(p, sent);
        } else if (v.kind == resp::value_kind::null) {
            ++refusals;
            p.refused += to_heal ? 0u : 1u;
            forget(p, sure && !p.ours); // else our own key refuses it
        } else if (v.kind == resp::value_kind::error) {
            forget(p, sure && !p.ours);
        }
        compare();
    }

    // The arbiter says that it is our turn.
    void in_turn(std::size_t node, core::time_point sent, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        const bool counts = !turn_ && !round_was_ && p.sets == 0 && arbiter_ == node;
        if (now != stage::asking || (!counts && !blurred))
            return;
        turn_ = true;
        p.queued = false;
        grant(p, sent);
        compare();
    }

    // The arbiter notifies us of our turn. No grant yet.
    void notified(std::size_t node, std::string_view reference, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        if (p.reference != reference)
            return;
        ++p.pushes;
        if (!p.queued)
            return;
        turn_ = true;
        arbiter_ = node;
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
            lose(p, sure);
            forget(p, sure);
        }
        compare();
    }

    void renewed(std::size_t node, bool confirmed, core::time_point sent, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure || (!confirmed && p.open > p.open_was);
        if (confirmed) {
            p.ours = p.may_count;
            p.until = std::max(p.until, sent + terms.ttl - terms.drift);
        } else {
            lose(p, sure);
            if (p.open == 0) // else it is asked again already
                forget(p, sure);
        }
        compare();
    }

    // Its requests will not be answered any more.
    void disconnected(std::size_t node) { at_[node].open = at_[node].open_was = 0; }

    // What came of the latest call, when all replies have been heard.
    void check_requests() const
    {
        for (const place& p : at_) {
            check(p.sets <= 1 + p.refused, "only who has refused is asked again");
            check(p.sets <= 1 || turn_, "and only after a hand-over");
            check(p.sets <= 1 + most_refusals, "and not for ever");
            check(p.confirms <= p.pushes, "what is confirmed was notified");
        }
    }

    // The end of a lease that a majority has granted, as things stand.
    core::time_point bound() const
    {
        std::array<core::time_point, redis::max_nodes> ends{};
        ends.fill(core::long_ago);
        for (std::size_t i = 0; i < nodes; ++i)
            ends[i] = at_[i].ours ? at_[i].until : core::long_ago;
        std::sort(ends.begin(), ends.end(), std::greater<>());
        return ends[nodes / 2]; // so many, and one more, are as large or larger
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
        bool may_count = false; // asked in the round, and not found missing since
        bool ours = false;
        bool lost = false; // it was ours, and then was not: what it grants later proves nothing
        bool removing = false;
        bool queued = false;
        std::string reference; // of its place in the queue
        std::size_t sets = 0, refused = 0, pushes = 0, confirms = 0;
        std::size_t open = 0, open_was = 0; // requests that may make it ours
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
        p.until = std::max(p.until, sent + terms.ttl - terms.drift);
    }

    // Only what was certainly heard takes anything away.
    void forget(place& p, bool sure)
    {
        if (!sure)
            return;
        p.ours = false;
        p.may_count = p.may_count && p.open > 0;
    }

    static void lose(place& p, bool sure)
    {
        p.lost = p.lost || (p.ours && sure);
        p.ours = p.ours && !p.lost;
    }

    void compare()
    {
        best_ = std::max(best_, bound());
        worst_ = std::min(worst_, bound());
    }

    std::array<place, redis::max_nodes> at_{};
    std::size_t arbiter_ = redis::max_nodes;
    bool turn_ = false;  // it has come
    bool round_ = false; // the nodes are asked
    bool round_was_ = false;
    core::time_point best_{}, worst_{};
};

} // namespace holdfast::fuzz
