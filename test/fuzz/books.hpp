#pragma once

#include "core/backend.hpp"
#include "redlock/quorum.hpp"
#include "resp/reader.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/replies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace holdfast::fuzz {

// What a claim can be worth, by the bytes that went to and fro. Kept apart from the library's own
// books, with which it is compared.
class claim_book {
public:
    enum class stage { asking, held, releasing, ended };

    std::uint64_t tag = 0;
    core::claim_id id = 0;
    std::string resource, token;
    core::claim_terms terms{};
    stage now = stage::asking;
    core::time_point deadline{};            // of the attempt, or of the release
    core::time_point told = core::long_ago; // the validity that the backend told
    std::size_t nodes = 0, refusals = 0, deletions = 0;
    bool removal_seen = false;
    // A connection was closed in the middle of several replies: what came after was not heard.
    bool blurred = false;

    // A command of this claim was queued for a node.
    void asked(std::size_t node, core::time_point when, bool to_heal)
    {
        place& p = at_[node];
        check(!p.removing, "nothing is set behind a removal");
        check(now == stage::asking || now == stage::held, "nothing is set for what has ended");
        if (to_heal) {
            check(now == stage::held, "only a lease is healed");
            p.may_count = p.ours = false;
            return;
        }
        check(!p.asked, "a node is asked once");
        p.asked = p.may_count = true;
        p.sent = when;
    }

    void removing(std::size_t node) { at_[node].removing = removal_seen = true; }

    void removed(bool was_ours) { deletions += was_ours ? 1u : 0u; }

    // `sure`: the connection has certainly heard this reply.
    void answered(std::size_t node, std::span<const resp::value> reply, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        const resp::value& v = reply.front();
        if (v.what == resp::kind::simple_string && v.text == "OK") {
            p.ours = p.may_count;
            p.until = std::max(p.until, p.sent + terms.ttl - terms.drift);
        } else if (v.what == resp::kind::null) {
            ++refusals;
            forget(p, sure);
        } else if (v.what == resp::kind::error) {
            forget(p, sure);
        }
        compare();
    }

    void renewed(std::size_t node, bool confirmed, core::time_point sent, bool sure)
    {
        place& p = at_[node];
        blurred = blurred || !sure;
        if (confirmed) {
            p.ours = p.may_count;
            p.until = std::max(p.until, sent + terms.ttl - terms.drift);
        } else {
            forget(p, sure);
        }
        compare();
    }

    // The end of a lease that a majority has granted, as things stand.
    core::time_point bound() const
    {
        std::array<core::time_point, redis::max_nodes> ends{};
        ends.fill(core::long_ago);
        for (std::size_t i = 0; i < nodes; ++i)
            ends[i] = at_[i].ours ? at_[i].until : core::long_ago;
        std::sort(
            ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(nodes), std::greater<>());
        return ends[nodes / 2]; // so many, and one more, are as large or larger
    }

    // The largest and the smallest bound since begin().
    void begin() { best_ = worst_ = bound(); }
    core::time_point best() const { return best_; }
    core::time_point worst() const { return worst_; }

private:
    struct place {
        bool asked = false;
        bool may_count = false; // asked in the round, and not found missing since
        bool ours = false;
        bool removing = false;
        core::time_point sent{}, until = core::long_ago;
    };

    // Only what was certainly heard takes anything away.
    void forget(place& p, bool sure)
    {
        if (sure)
            p.ours = p.may_count = false;
    }

    void compare()
    {
        best_ = std::max(best_, bound());
        worst_ = std::min(worst_, bound());
    }

    std::array<place, redis::max_nodes> at_{};
    core::time_point best_{}, worst_{};
};

} // namespace holdfast::fuzz
