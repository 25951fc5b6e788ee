#pragma once

#include "core/backend.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

// A backend controlled by a test or a fuzz target. It records its calls and checks the contract of
// the interface: every claim ends once, no call refers to a claim that has ended, and a resource
// has one claim at a time. It throws if the locker breaks the contract.
class scripted_backend final : public core::backend_core,
                               private core::remote_queue,
                               private core::store_nodes,
                               private core::store_cleanup {
public:
    enum class stage { asking, held, ended };
    struct claim {
        std::uint64_t tag = 0;
        std::string resource;
        core::claim_params terms{};
        core::time_point asked{};   // when the attempt began
        core::time_point renewed{}; // the latest request
        core::time_point told{};    // the validity that the locker was told
        stage now = stage::asking;
        bool released = false, abandoned = false, granted = false;
        std::optional<std::uint64_t> fence{}; // of its holder
        std::uint64_t tag_before = 0;         // of the holder before; 0: not transferred yet
        std::size_t passes = 0;               // transfers since no remote waiter was last found
        bool probing = false;
        bool reports = false;         // others that wait are to be reported
        bool reported_before = false; // the same at the last transfer
    };

    // The calls, in order: "attempt stock:A", "release stock:A", "renew stock:A stock:B" ….
    std::vector<std::string> calls;
    std::map<core::claim_id, claim> claims; // all claims so far
    core::claim_id latest = 0;
    std::vector<core::claim_id> unanswered_releases;
    std::vector<core::claim_id> unanswered_probes; // if probes take time
    std::vector<std::uint64_t> watches;            // the tags
    std::size_t grants = 0, transfers = 0;
    std::size_t deletions = 0; // in progress
    std::vector<core::connection*> links;
    bool is_closed = false;
    core::duration how_patient = std::chrono::milliseconds(50); // less under a short ttl
    errc outlook_is = errc::unreachable;
    errc cut_off_is{};             // why no attempt can succeed
    bool probes_take_time = false; // a probe for other waiters is under way until it is answered
    bool has_queue = false;
    bool can_report = true; // other processes that wait
    core::store_info info;
    bool is_wound_up = false;
    std::optional<errc> refuse_at_once{}; // answers attempts inside the call, as memory() does
    bool grant_at_once = false;
    bool answer_probes_at_once = false;        // no other process waits
    bool has_tokens = false;                   // each holder has the next token; otherwise:
    std::optional<std::uint64_t> next_fence{}; // of a transfer
    bool has_next_fence = true;
    core::time_point turn = core::never; // of the next grants

    void grant(core::claim_id id, core::time_point valid_until,
        std::optional<std::uint64_t> fence = std::nullopt)
    {
        claim& c = open(id, stage::asking, "grant");
        c.now = stage::held;
        c.granted = true;
        c.told = valid_until;
        c.fence = has_tokens ? ++last_token_ : fence;
        ++grants;
        push({.kind = core::event_kind::granted,
            .tag = c.tag,
            .valid = {.asked = c.asked, .ttl = c.terms.ttl, .until = valid_until},
            .asked = turn,
            .fence = c.fence});
    }

    // Grants the longest lease that the parameters allow.
    void grant(core::claim_id id) { grant(id, latest_end(id)); }

    // The end of the longest lease that the latest request can give.
    core::time_point latest_end(core::claim_id id) const
    {
        const claim& c = claims.at(id);
        return c.renewed + c.terms.ttl - c.terms.drift;
    }

    // `transient`: the reason goes away with time.
    void refuse(core::claim_id id, errc reason = errc::contended, bool transient = false)
    {
        claim& c = end(id, stage::asking, "refuse");
        push({.kind = core::event_kind::refused,
            .reason = reason,
            .tag = c.tag,
            .transient = transient,
            .asked = c.asked});
    }

    // The attempt waits in a queue of the backend.
    void enqueue(core::claim_id id)
    {
        push({.kind = core::event_kind::queued, .tag = open(id, stage::asking, "enqueue").tag});
    }

    void confirm(core::claim_id id, core::time_point valid_until)
    {
        claim& c = open(id, stage::held, "confirm");
        c.told = valid_until;
        push({.kind = core::event_kind::validity,
            .tag = c.tag,
            .valid = {.asked = valid_until - (c.terms.ttl - c.terms.drift),
                .ttl = c.terms.ttl,
                .until = valid_until}});
    }

    void lose(core::claim_id id, bool keys_left = false)
    {
        push({.kind = core::event_kind::lost,
            .tag = open(id, stage::held, "lose").tag,
            .keys_left = keys_left});
    }

    void end_release(core::claim_id id, release_outcome outcome = release_outcome::released)
    {
        std::erase(unanswered_releases, id);
        push({.kind = core::event_kind::released, .outcome = outcome, .tag = claims.at(id).tag});
    }

    void nobody_else_waits(core::claim_id id)
    {
        claim& c = open(id, stage::held, "no other process waits");
        c.passes = 0;
        push({.kind = core::event_kind::no_remote_waiters, .tag = c.tag});
    }

    // Other processes wait. The claim may have ended.
    void others_wait(core::claim_id id)
    {
        claim& c = claims.at(id);
        c.reports = false;
        if (c.now == stage::held)
            push({.kind = core::event_kind::remote_waiters, .tag = c.tag});
    }

    // Answers a probe. The claim may have ended.
    void end_probe(core::claim_id id, bool alone)
    {
        claim& c = claims.at(id);
        c.probing = false;
        std::erase(unanswered_probes, id);
        if (alone && c.now == stage::held)
            nobody_else_waits(id);
    }

    void frees(std::uint64_t tag, core::time_point when, errc reason = {})
    {
        push({.kind = core::event_kind::free_hint, .reason = reason, .tag = tag, .free_at = when});
    }

    std::size_t attempts() const { return claims.size(); }
    std::uint64_t watched() const { return watches.empty() ? 0 : watches.back(); }

    core::claim_id attempt(std::uint64_t tag, std::string_view resource, const core::owner_token&,
        const core::claim_params& terms, core::time_point now) override
    {
        require(!is_wound_up, "attempt after wind_up");
        require(claimed_.emplace(resource).second, "two claims to one resource");
        const core::claim_id id = ++latest;
        claims[id] = {.tag = tag,
            .resource = std::string(resource),
            .terms = terms,
            .asked = now,
            .renewed = now};
        const bool in_turn = terms.queue == core::queueing::now;
        record((in_turn ? "attempt in queue " : "attempt ") + claims[id].resource);
        if (refuse_at_once)
            refuse(id, *refuse_at_once);
        else if (grant_at_once)
            grant(id);
        return id;
    }

    void abandon(core::claim_id id, core::time_point) override
    {
        claim& c = end(id, stage::asking, "abandon");
        c.abandoned = true;
        record("abandon " + c.resource);
    }

    errc pending_error(core::claim_id) const noexcept override { return outlook_is; }
    bool can_transfer(core::claim_id) const noexcept override { return has_next_fence; }
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override
    {
        claim& c = open(id, stage::held, "transfer");
        require(has_next_fence, "transfer without a token");
        require(std::none_of(claims.begin(), claims.end(),
                    [tag](const auto& each) { return each.second.tag == tag; }),
            "transfer to the holder of another claim");
        c.tag_before = std::exchange(c.tag, tag);
        c.reported_before = c.reports;
        c.passes = c.reports ? 0 : c.passes + 1;
        ++transfers;
        record("transfer " + c.resource);
        return c.fence = has_tokens ? ++last_token_ : next_fence;
    }

    void renew(std::span<const core::claim_id> ids, bool again, core::time_point now) override
    {
        require(!ids.empty(), "renewal of no claim");
        std::string line = again ? "renew again" : "renew";
        for (const core::claim_id id : ids) {
            claim& c = open(id, stage::held, "renew");
            c.renewed = now;
            line += " " + c.resource;
        }
        record(std::move(line));
    }

    void release(core::claim_id id, core::time_point) override
    {
        claim& c = end(id, stage::held, "release");
        c.released = true;
        unanswered_releases.push_back(id);
        record("release " + c.resource);
    }

    void watch(std::uint64_t tag, std::string_view resource, core::time_point) override
    {
        watches.push_back(tag);
        record("watch " + std::string(resource));
    }

    core::duration patience(core::duration ttl) const noexcept override
    {
        return std::min(how_patient, ttl / 20);
    }

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
    std::span<core::connection* const> connections() noexcept override { return links; }
    void close(core::time_point) override
    {
        require(!is_closed, "closed twice");
        require(is_wound_up, "closed before it was wound up");
        is_closed = true;
        record("close");
    }
    const core::store_info& about() const noexcept override { return info; }
    core::remote_queue& queue() noexcept override { return *this; }
    core::store_nodes& nodes() noexcept override { return *this; }
    core::store_cleanup& cleanup() noexcept override { return *this; }

private:
    // core::remote_queue
    bool is_usable() const noexcept override { return has_queue; }
    void probe_waiters(core::claim_id id, core::time_point) override
    {
        claim& c = open(id, stage::held, "probe waiters");
        require(!c.probing, "two probes at once");
        record("probe waiters " + c.resource);
        if (!probes_take_time)
            return;
        c.probing = true;
        unanswered_probes.push_back(id);
        if (answer_probes_at_once)
            end_probe(id, true);
    }
    bool is_probing(core::claim_id id) const noexcept override { return claims.at(id).probing; }
    void report_waiters(core::claim_id id, core::time_point) override
    {
        claim& c = open(id, stage::held, "report waiters");
        c.reports = can_report;
        record("report waiters " + c.resource);
    }
    bool reports_waiters(core::claim_id id) const noexcept override
    {
        return claims.at(id).reports;
    }
    void leave_open(core::claim_id id) override
    {
        record("leave open " + open(id, stage::held, "leave open").resource);
    }

    // core::store_nodes
    errc cut_off() const noexcept override { return cut_off_is; }

    // core::store_cleanup
    std::size_t under_way() const noexcept override { return deletions; }
    void leave(core::claim_id id) override
    {
        record("leave " + end(id, stage::held, "leave").resource);
    }
    void wind_up(core::time_point) override
    {
        require(!is_wound_up, "wound up twice");
        for (const auto& [id, c] : claims)
            require(
                c.now == stage::ended, "wound up while claim " + std::to_string(id) + " is open");
        is_wound_up = true;
    }

    static void require(bool kept, const std::string& promise)
    {
        if (!kept)
            throw std::logic_error("broken promise of the locker to its backend: " + promise);
    }

    claim& open(core::claim_id id, stage expected, const char* call)
    {
        const auto found = claims.find(id);
        require(found != claims.end() && found->second.now == expected,
            std::string(call) + " of claim " + std::to_string(id));
        return found->second;
    }

    claim& end(core::claim_id id, stage expected, const char* call)
    {
        claim& c = open(id, expected, call);
        c.now = stage::ended;
        claimed_.erase(c.resource);
        return c;
    }

    void push(const core::backend_event& e) { events_.push_back(e); }
    void record(std::string line) { calls.push_back(std::move(line)); }

    std::deque<core::backend_event> events_;
    std::set<std::string> claimed_;
    std::uint64_t last_token_ = 0;
};

} // namespace holdfast::test
