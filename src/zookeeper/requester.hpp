#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"
#include "zookeeper/servers.hpp"
#include "zookeeper/wire/messages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace holdfast::zookeeper_store {

// A request under way.
struct request {
    enum class kind : std::uint8_t {
        create,        // the node of a claim
        list,          // its queue
        look,          // at the node before it
        leave,         // the node of a claim is deleted
        folder,        // a folder is created; nobody waits for the answer
        last_folder,   // the folder of a claim, behind those that lead to it
        waiters,       // a list of a queue, for a holder who wants to know of others
        heartbeat,     // to the session's node
        proof,         // that node is created
        sweep,         // a list of a queue, to find nodes of late requests
        sweep_up,      // such a node is deleted
        question,      // of people
        close_session, // the last one
    };

    kind what{};
    core::slot_id claim = 0; // or of a question or a sweep
    core::time_point sent{};
    std::int32_t number = 0;
    wire::operation operation{};

    bool is_container() const noexcept { return operation == wire::operation::create_container; }
};

// Sends requests to the present server. The answers come in the same order.
class requester {
public:
    // It outlives it.
    explicit requester(servers& all) noexcept : servers_(all) {}

    bool can_send() const noexcept { return servers_.is_up(); }
    // Precondition: can_send().
    void send(
        request::kind what, core::slot_id claim, wire::request&& message, core::time_point now)
    {
        request r{.what = what, .claim = claim, .sent = now, .operation = message.what};
        r.number = servers_.current().send(std::move(message));
        under_way_.push_back(r);
        ++counts_[index(what)];
    }
    // The request that is answered now; none if there is none.
    std::optional<request> take(core::time_point now)
    {
        if (under_way_.empty())
            return std::nullopt;
        const request oldest = under_way_.front();
        under_way_.pop_front();
        --counts_[index(oldest.what)];
        heard_ = now;
        return oldest;
    }
    void clear() noexcept
    {
        under_way_.clear();
        counts_ = {};
        heard_ = core::long_ago;
    }
    // Since when the server owes an answer. In a burst it answers one request after another.
    core::time_point waits_since() const noexcept
    {
        return under_way_.empty() ? core::never : std::max(under_way_.front().sent, heard_);
    }
    std::size_t count(request::kind what) const noexcept { return counts_[index(what)]; }

private:
    static constexpr std::size_t kinds = static_cast<std::size_t>(request::kind::close_session) + 1;
    static constexpr std::size_t index(request::kind what) noexcept
    {
        return static_cast<std::size_t>(what);
    }

    servers& servers_;
    std::deque<request> under_way_;
    std::array<std::size_t, kinds> counts_{};
    core::time_point heard_ = core::long_ago; // of the last answer
};

} // namespace holdfast::zookeeper_store
