#pragma once

#include "core/claim.hpp"
#include "core/ring.hpp"
#include "zookeeper/claim_table.hpp"
#include "zookeeper/session.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::zookeeper_store {

// What held claims may rely on, as the session is confirmed. It is told only to those that want to
// know.
class held_claims {
public:
    // All of these outlive it.
    held_claims(
        claim_table& claims, const session& kept, core::ring<core::backend_event>& events) noexcept
        : claims_(claims),
          session_(kept),
          events_(events)
    {}

    // The claim wants a validity that counts from `from` or later.
    void wish(core::claim_id id, claim& c, core::time_point from)
    {
        if (c.wishes_from == core::long_ago)
            wishes_.push_back(id);
        c.wishes_from = std::max(c.wishes_from, from);
        hurries_ = hurries_ || from > c.renewed + core::duration(1);
    }
    // One of them waits for an extension.
    bool hurries() const noexcept { return hurries_; }

    void confirmed(core::time_point now)
    {
        std::erase_if(wishes_, [&](core::claim_id id) {
            claim* const c = claims_.find(id);
            if (c == nullptr || !is_held(*c))
                return true;
            const core::validity valid = session_.valid_for(c->terms.ttl, c->terms.drift, now);
            if (valid.asked > c->renewed)
                tell(*c, valid);
            if (c->renewed < c->wishes_from)
                return false;
            c->wishes_from = core::long_ago;
            return true;
        });
        hurries_ = !wishes_.empty();
    }
    // The servers keep the session for a shorter time than before.
    void session_is_shorter(core::time_point now)
    {
        claims_.for_each([&](core::claim_id, claim& c) {
            if (is_held(c))
                tell(c, session_.valid_for(c.terms.ttl, c.terms.drift, now));
        });
    }
    void session_is_lost() noexcept
    {
        wishes_.clear();
        hurries_ = false;
    }

private:
    bool is_held(const claim& c) const noexcept
    {
        return c.now == claim::stage::held && c.session == session_.id();
    }
    void tell(claim& c, const core::validity& valid)
    {
        c.renewed = valid.asked;
        events_.push({.kind = core::event_kind::validity, .tag = c.tag, .valid = valid});
    }

    claim_table& claims_;
    const session& session_;
    core::ring<core::backend_event>& events_;
    std::vector<core::claim_id> wishes_;
    bool hurries_ = false;
};

} // namespace holdfast::zookeeper_store
