#pragma once

#include "core/time.hpp"
#include "core/validity.hpp"
#include "zookeeper/heartbeats.hpp"
#include "zookeeper/wire/messages.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::zookeeper_store {

// The session of a locker, under which all its nodes are: what is known of it. Makes no requests.
//
// The servers end it, and delete its nodes, no earlier than its timeout after the time that the
// last answered heartbeat has proven.
class session {
public:
    explicit session(core::duration timeout) noexcept : timeout_(timeout) {}

    // What a connection begins with.
    wire::connect_request greeting(core::duration timeout) const
    {
        const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
        return {.last_zxid = is_alive() ? last_zxid_ : 0,
            .timeout_ms = static_cast<std::int32_t>(ms),
            .session = id_,
            .password = is_alive() ? password_ : std::string(16, '\0')};
    }

    // 0 if there is none.
    std::int64_t id() const noexcept { return id_; }
    bool is_alive() const noexcept { return id_ != 0; }
    core::duration timeout() const noexcept { return timeout_; }
    // Its node has been created.
    bool has_proof() const noexcept { return has_proof_; }
    void proof_exists(bool it_does) noexcept { has_proof_ = it_does; }
    void saw(std::int64_t zxid) noexcept { last_zxid_ = std::max(last_zxid_, zxid); }

    heartbeats& kept() noexcept { return kept_; }
    const heartbeats& kept() const noexcept { return kept_; }

    // A new one. A majority has agreed to that.
    void began(const wire::connect_reply& reply, core::time_point sent)
    {
        id_ = reply.session;
        password_ = reply.password;
        has_proof_ = false;
        confirmed_ = sent;
        timeout_ = core::duration::max();
        resumed(reply, sent);
    }
    // The same one, on a new connection. Whether the leader that has agreed still has a majority is
    // known with the first heartbeat. Servers with other bounds grant another timeout, but a new
    // leader takes the first one: only the shortest is certain. True if it is shorter now.
    bool resumed(const wire::connect_reply& reply, core::time_point sent)
    {
        const core::duration granted = std::chrono::milliseconds(reply.timeout_ms);
        const bool shorter = granted < timeout_;
        timeout_ = std::min(timeout_, granted);
        kept_.begin(sent);
        return shorter;
    }
    // The servers have ended it.
    void lost() noexcept
    {
        id_ = last_zxid_ = 0;
        has_proof_ = false;
        confirmed_ = core::long_ago;
        kept_.end();
    }
    void disconnected() noexcept { kept_.end(); }

    // The heartbeat under way is answered. True if this has proven something.
    bool confirm(core::time_point now) noexcept
    {
        const auto proven = kept_.answered(now);
        if (!proven || *proven <= confirmed_)
            return false;
        confirmed_ = *proven;
        return true;
    }

    // The servers keep the nodes until then.
    core::time_point ends() const noexcept
    {
        return confirmed_ == core::long_ago ? core::long_ago : confirmed_ + timeout_;
    }
    // A ttl that is longer than the timeout has no effect.
    core::duration effective(core::duration ttl) const noexcept { return std::min(ttl, timeout_); }
    // The session is proven for a claim with this ttl as if it was asked for at this time.
    core::time_point covers(core::duration ttl) const noexcept
    {
        return confirmed_ == core::long_ago ? confirmed_ : ends() - effective(ttl);
    }
    // What a claim may rely on whose request, or turn, was at `asked`.
    core::validity valid_for(
        core::duration ttl, core::duration drift, core::time_point asked) const noexcept
    {
        const core::duration length = effective(ttl);
        const core::time_point from = std::min(asked, covers(ttl));
        if (from == core::long_ago)
            return {.asked = from, .ttl = length, .until = from};
        const core::time_point until =
            std::min(from + length - drift, ends() - of_session(drift, length));
        return {.asked = from,
            .ttl = length,
            .until = until,
            .renewable_at = kept_.next_planned(timeout_)};
    }
    // The session has ended long ago, whatever servers say that do not let it go on.
    bool is_past(core::time_point now) const noexcept
    {
        return is_alive() && confirmed_ != core::long_ago && now - confirmed_ > 3 * timeout_;
    }

private:
    // What is subtracted from a ttl for the rates of clocks, for the whole session.
    core::duration of_session(core::duration drift, core::duration ttl) const noexcept
    {
        const double longer =
            std::chrono::duration<double>(timeout_) / std::max(ttl, core::duration(1));
        return std::chrono::duration_cast<core::duration>(drift * std::max(longer, 1.0));
    }

    std::int64_t id_ = 0, last_zxid_ = 0;
    std::string password_;   // secret
    core::duration timeout_; // as the servers have granted it
    core::time_point confirmed_ = core::long_ago;
    bool has_proof_ = false;
    heartbeats kept_;
};

} // namespace holdfast::zookeeper_store
