#pragma once

#include "core/time.hpp"
#include "core/validity.hpp"
#include "etcd/keepalives.hpp"
#include "etcd/session_users.hpp"
#include "etcd/wire/grpc.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace holdfast::etcd_store {

// The lease at the server that all keys of one ttl have: what is known of it, and when it has to be
// kept alive. Makes no requests.
//
// The server ends a lease, and deletes its keys, no earlier than its ttl after the last request
// that it has answered with success was sent.
class session {
public:
    // Seconds, as the server counts.
    explicit session(std::int64_t seconds) noexcept : asked_(seconds) {}

    std::int64_t asked_seconds() const noexcept { return asked_; }
    // 0 if there is none.
    std::int64_t lease() const noexcept { return lease_; }
    bool is_alive() const noexcept { return lease_ != 0; }

    // The claims that need it.
    session_users& users() noexcept { return users_; }
    const session_users& users() const noexcept { return users_; }
    // The requests that keep it alive.
    keepalives& kept() noexcept { return kept_; }
    const keepalives& kept() const noexcept { return kept_; }

    // A lease is asked for by this call, or was by an earlier one.
    void asks(wire::stream_id call) noexcept { grant_ = call; }
    bool is_asking() const noexcept { return grant_ != 0; }
    void refused() noexcept { grant_ = 0; }
    // It was asked for at `sent`.
    void granted(std::int64_t lease, std::int64_t seconds, core::time_point sent) noexcept
    {
        grant_ = 0;
        lease_ = lease;
        length_ = std::chrono::seconds(seconds);
        confirmed_ = sent;
        kept_.begin(sent);
    }
    // The server has ended it.
    void lost() noexcept
    {
        lease_ = 0;
        kept_.end();
        confirmed_ = core::long_ago;
    }
    // The connection is gone. The lease is not.
    void disconnected() noexcept
    {
        grant_ = 0;
        kept_.end();
    }
    // The oldest request to keep it alive is answered. Returns when it was sent, or nothing if
    // there was none.
    std::optional<core::time_point> confirm(std::int64_t seconds) noexcept
    {
        const auto sent = kept_.answered();
        if (sent && seconds > 0) {
            length_ = std::chrono::seconds(seconds);
            confirmed_ = *sent;
        }
        return sent;
    }

    // When the last answered request was sent.
    core::time_point confirmed() const noexcept { return confirmed_; }
    // The server keeps the keys until then.
    core::time_point ends() const noexcept
    {
        return confirmed_ == core::long_ago ? core::long_ago : confirmed_ + length_;
    }
    // When it has to be kept alive next, or can be given back.
    core::time_point next_at() const noexcept
    {
        if (!is_alive())
            return core::never;
        const core::time_point last = kept_.last();
        const core::time_point next = last == core::long_ago ? last : last + length_ / 3;
        return std::min(next, users_.idle_at());
    }

    // What a claim may rely on whose last request, or turn, was at `asked`. `drift`: for a ttl.
    core::validity valid_for(
        core::duration ttl, core::duration drift, core::time_point asked) const noexcept
    {
        if (!is_alive())
            return {.asked = asked, .ttl = ttl, .until = asked - drift};
        // The lease of the server may be longer than the ttl, and its clock is wrong for longer.
        const double longer =
            std::chrono::duration<double>(length_) / std::max(ttl, core::duration(1));
        const auto of_lease =
            std::chrono::duration_cast<core::duration>(drift * std::max(longer, 1.0));
        return {
            .asked = asked, .ttl = ttl, .until = std::min(asked + ttl - drift, ends() - of_lease)};
    }

private:
    const std::int64_t asked_;
    std::int64_t lease_ = 0;
    core::duration length_{}; // as the server has granted it
    wire::stream_id grant_ = 0;
    core::time_point confirmed_ = core::long_ago;
    session_users users_;
    keepalives kept_;
};

} // namespace holdfast::etcd_store
