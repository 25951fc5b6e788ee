#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"
#include "etcd/wire/grpc.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace holdfast::etcd_store {

// A request with one answer.
struct request {
    enum class kind : std::uint8_t { ask, list, leave, bar, clear, grant_lease, revoke_lease };

    kind what{};
    core::slot_id claim = 0;
    core::slot_id leaves = 0; // of `ask`: an earlier claim, whose key is deleted as well
    std::size_t session = 0;  // of requests about leases
    core::time_point sent{};
    std::int64_t revision = 0;           // that the store had reached before
    std::optional<std::string> answer{}; // has arrived, but not the end of the call
};

// The requests under way on the present connection, the oldest first.
class call_book {
public:
    void add(wire::stream_id call, const request& r) { calls_.emplace(call, r); }
    request* find(wire::stream_id call)
    {
        const auto found = calls_.find(call);
        return found == calls_.end() ? nullptr : &found->second;
    }
    request take(wire::stream_id call)
    {
        request r = std::move(calls_.at(call));
        calls_.erase(call);
        return r;
    }
    void clear() noexcept { calls_.clear(); }
    const std::map<wire::stream_id, request>& all() const noexcept { return calls_; }
    std::size_t count(request::kind what) const noexcept
    {
        return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(),
            [what](const auto& each) { return each.second.what == what; }));
    }
    // When the oldest one was sent.
    core::time_point oldest() const noexcept
    {
        return calls_.empty() ? core::never : calls_.begin()->second.sent;
    }

private:
    std::map<wire::stream_id, request> calls_; // ids grow
};

} // namespace holdfast::etcd_store
