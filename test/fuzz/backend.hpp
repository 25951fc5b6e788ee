#pragma once

#include "core/backend.hpp"

#include "fuzz/checks.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::fuzz {

// A backend that gives the answers it is told to give. It checks the contract of
// core::backend_core: every claim ends once, and the locker uses no claim after its end.
class backend final : public core::backend_core {
public:
    enum class stage { asking, held, ended };
    struct claim {
        std::uint64_t tag = 0;
        std::string resource{};
        core::claim_params terms{};
        core::time_point asked{}; // of the latest request
        core::time_point told{};  // the validity reported to the locker
        stage now = stage::asking;
        bool granted = false, released = false;
        core::time_point granted_at{};
        std::uint64_t holder_before = 0; // 0: not transferred yet
        std::size_t passes = 0;          // transfers since no remote waiter was last found
        bool looking = false;            // for remote waiters; the answer comes later
        std::uint64_t fence = 0;         // of its holder
    };

    std::deque<claim> claims; // all claims ever made; the id is the index plus 1
    std::vector<core::claim_id> unanswered_releases;
    std::vector<std::uint64_t> watched;
    std::vector<core::claim_id> looked_for; // claims with an unanswered probe for remote waiters
    std::size_t grants = 0, passes = 0;
    enum class at_once { nothing, grant, refuse } answers = at_once::nothing;
    bool clean = true; // whether no deletion is under way
    bool is_closed = false;
    errc outlook_is = errc::unreachable;
    bool has_queue = false; // the result of queues()

    claim& at(core::claim_id id) { return claims[id - 1]; }

    // The latest validity that may be reported for a claim.
    static core::time_point latest(const claim& c) { return c.asked + c.terms.ttl - c.terms.drift; }

    void grant(core::claim_id id, core::time_point valid_until, core::time_point now)
    {
        claim& c = at(id);
        check(c.now == stage::asking, "the fuzzer answers open attempts");
        valid_until = std::min(valid_until, latest(c));
        if (valid_until - now <= c.terms.guard)
            return refuse(id, errc::too_late);
        c.now = stage::held;
        c.granted = true;
        c.granted_at = now;
        c.told = valid_until;
        ++grants;
        c.fence = ++last_fence_;
        events_.push_back({.kind = core::event_kind::granted,
            .tag = c.tag,
            .valid = {.asked = c.asked, .ttl = c.terms.ttl, .until = valid_until},
            .fence = c.fence});
    }

    void refuse(core::claim_id id, errc reason)
    {
        at(id).now = stage::ended;
        events_.push_back({.kind = core::event_kind::refused,
            .reason = reason,
            .tag = at(id).tag,
            .asked = at(id).asked});
    }

    void confirm(core::claim_id id, core::time_point valid_until, core::time_point now)
    {
        claim& c = at(id);
        c.told = std::min(valid_until, latest(c));
        if (c.told <= now)
            return lose(id);
        events_.push_back({.kind = core::event_kind::validity,
            .tag = c.tag,
            .valid = {.asked = c.told - (c.terms.ttl - c.terms.drift),
                .ttl = c.terms.ttl,
                .until = c.told}});
    }

    void lose(core::claim_id id)
    {
        events_.push_back({.kind = core::event_kind::lost, .tag = at(id).tag});
    }

    void end_release(std::size_t place, release_outcome outcome)
    {
        const claim& c = at(unanswered_releases[place]);
        events_.push_back({.kind = core::event_kind::released, .outcome = outcome, .tag = c.tag});
        unanswered_releases.erase(unanswered_releases.begin() + static_cast<std::ptrdiff_t>(place));
    }

    void frees(std::uint64_t tag, core::time_point when, errc reason)
    {
        events_.push_back(
            {.kind = core::event_kind::free_hint, .reason = reason, .tag = tag, .free_at = when});
    }

    void end_looking(std::size_t place, bool alone)
    {
        claim& c = at(looked_for[place]);
        looked_for.erase(looked_for.begin() + static_cast<std::ptrdiff_t>(place));
        c.looking = false;
        if (c.now != stage::held || !alone)
            return;
        c.passes = 0;
        events_.push_back({.kind = core::event_kind::no_remote_waiters, .tag = c.tag});
    }

    core::claim_id attempt(std::uint64_t tag, std::string_view resource, const core::owner_token&,
        const core::claim_params& terms, core::time_point now) override
    {
        check(!is_closed, "there is no attempt after close()");
        for (const claim& c : claims)
            check(c.now == stage::ended || c.resource != resource,
                "a resource has one claim at a time");
        claims.push_back(
            {.tag = tag, .resource = std::string(resource), .terms = terms, .asked = now});
        const core::claim_id id = claims.size();
        if (answers == at_once::grant)
            grant(id, now + terms.ttl, now);
        else if (answers == at_once::refuse)
            refuse(id, errc::contended);
        return id;
    }

    void abandon(core::claim_id id, core::time_point) override
    {
        check(at(id).now == stage::asking, "only open attempts are abandoned");
        at(id).now = stage::ended;
    }

    errc pending_error(core::claim_id) const noexcept override { return outlook_is; }
    bool queues() const noexcept override { return has_queue; }

    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override
    {
        check(at(id).now == stage::held && !is_closed, "only held claims are transferred");
        for (const claim& c : claims)
            check(c.tag != tag, "the new holder has no claim yet");
        claim& c = at(id);
        c.holder_before = std::exchange(c.tag, tag);
        ++c.passes;
        ++passes;
        return c.fence = ++last_fence_;
    }

    void renew(std::span<const core::claim_id> ids, bool, core::time_point now) override
    {
        check(!ids.empty() && !is_closed, "a renewal names at least one claim");
        for (const core::claim_id id : ids) {
            check(at(id).now == stage::held, "only held claims are renewed");
            at(id).asked = now;
        }
    }

    void probe_waiters(core::claim_id id, core::time_point) override
    {
        check(at(id).now == stage::held && !is_closed, "only held claims are probed for waiters");
        check(!at(id).looking, "there is one probe at a time");
        at(id).looking = true;
        looked_for.push_back(id);
        if (answers == at_once::grant)
            end_looking(looked_for.size() - 1, true);
    }

    bool probing_waiters(core::claim_id id) const noexcept override
    {
        return claims[id - 1].looking;
    }

    void release(core::claim_id id, core::time_point) override
    {
        check(at(id).now == stage::held && !is_closed, "only held claims are released");
        at(id).now = stage::ended;
        at(id).released = true;
        unanswered_releases.push_back(id);
    }

    void watch(std::uint64_t tag, std::string_view, core::time_point) override
    {
        watched.push_back(tag);
    }

    core::duration patience(core::duration ttl) const noexcept override { return ttl / 20; }

    std::optional<core::backend_event> next_event() override
    {
        if (events_.empty())
            return std::nullopt;
        const core::backend_event e = events_.front();
        events_.pop_front();
        return e;
    }

    core::time_point wake_at() const noexcept override { return core::never; }
    using backend_core::wake;
    void wake(core::time_point, core::time_point) override {}
    std::span<core::connection* const> connections() noexcept override { return {}; }
    std::size_t cleaning_up() const noexcept override { return clean ? 0 : 1; }
    void close(core::time_point) override
    {
        check(!is_closed, "a backend is closed only once");
        is_closed = true;
    }
    std::vector<node_stats> nodes() const override { return {}; }

private:
    std::deque<core::backend_event> events_;
    std::uint64_t last_fence_ = 0;
};

} // namespace holdfast::fuzz
