#pragma once

#include "core/backend.hpp"
#include "etcd/call_book.hpp"
#include "etcd/members.hpp"
#include "etcd/session.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace holdfast::etcd_store {

// The sessions of a locker, one for each ttl in whole seconds: begins them, keeps them alive while
// they are used, and gives them back. It also knows which claims want to hear of the next
// confirmation of theirs.
class session_keeper {
public:
    // Both outlive it.
    session_keeper(members& servers, call_book& calls) noexcept : members_(servers), calls_(calls)
    {}

    // The index of the session for this ttl, which may have to be begun. Indices stay.
    std::size_t for_ttl(core::duration ttl);
    session& operator[](std::size_t i) noexcept { return all_[i].lease; }
    const session& operator[](std::size_t i) const noexcept { return all_[i].lease; }

    // Asks for a lease, unless there is one.
    void begin(std::size_t i, core::time_point now);
    void keep_alive(std::size_t i, core::time_point now);
    // The claim wants to hear of a confirmation of a request that is sent at `from` or later.
    void wants(std::size_t i, core::claim_id claim, core::time_point from)
    {
        all_[i].wishes.push_back({claim, from});
    }

    void connected(core::time_point now);
    void disconnected() noexcept;
    // Keeps sessions alive, and gives back those that were not used for long; with `unused`, all
    // that are not used.
    void serve(bool unused, core::time_point now);
    core::time_point next_at() const noexcept;
    // When the oldest unanswered request to keep a session alive was sent.
    core::time_point waits_since() const noexcept;

    // The answer to begin(). False if it makes no sense.
    bool granted(const request& r);
    // The session that this call keeps alive.
    std::optional<std::size_t> kept_by(wire::stream_id stream) const noexcept;
    // The server has confirmed the session. Returns when the request was sent, or nothing if there
    // was none.
    std::optional<core::time_point> confirmed(std::size_t i, std::int64_t seconds) noexcept
    {
        return all_[i].lease.confirm(seconds);
    }
    // The claims whose wish this confirmation fulfils.
    std::vector<core::claim_id> take_fulfilled(std::size_t i, core::time_point sent);
    // The server has ended the lease, and has deleted all keys of the session.
    void lost(std::size_t i);

    // The shortest ttl that is used; an hour if none is.
    core::duration shortest_ttl() const noexcept;
    // Whether there is a lease that no claim needs.
    bool has_unused() const noexcept;
    // How many leases that no claim needs there are, or are being given back.
    std::size_t left() const noexcept;

private:
    struct wish {
        core::claim_id claim = 0;
        core::time_point from{};
    };
    struct entry {
        session lease;
        std::vector<wish> wishes;
    };

    void give_back(std::size_t i, core::time_point now);
    wire::stream_id call(
        std::string_view path, const std::string& message, bool goes_on, core::time_point now);

    members& members_;
    call_book& calls_;
    std::deque<entry> all_;
};

} // namespace holdfast::etcd_store
