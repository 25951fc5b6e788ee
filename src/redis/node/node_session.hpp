#pragma once

#include "redis/node/answer_watch.hpp"
#include "redis/node/node_connection.hpp"
#include "redis/node/node_health.hpp"
#include "redis/node/request.hpp"
#include "redis/node/requests_under_way.hpp"

#include <holdfast/stats.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

// One node: sends requests in order, and matches replies to them. A request that was not answered
// in time keeps its place, so its late reply is never taken for that of another request. The
// connection is given up only when the node is silent for long, or answers out of order.
class node_session final : private connection_owner {
public:
    // `wakes` is told when it must be woken.
    node_session(std::size_t node, node_settings settings, session_owner& owner,
        core::wake_time& wakes, std::uint64_t jitter_seed);

    reachability now() const noexcept { return connection_.schedule().reach(); }
    // Not connected, and the last try to connect has failed.
    bool is_failing() const noexcept { return connection_.schedule().is_failing(); }
    // Whether optional requests should be left out: the node is silent, or has too many requests
    // under way.
    bool congested(core::time_point now) const noexcept;
    // False if a request has waited for longer than `limit` while the node answered nothing.
    bool answers_within(core::duration limit, core::time_point now) const noexcept;
    std::size_t outstanding() const noexcept { return requests_.size(); }

    const std::string& name() const noexcept { return connection_.address().name(); }
    const server_info& server() const noexcept { return connection_.greeted().server(); }
    // It has refused to keep a queue, and will not be asked again on this connection.
    void has_no_queue() noexcept { connection_.greeted().has_no_queue(); }

    // Precondition: now() is `ready`. `bytes`: one encoded command.
    void send(std::string_view bytes, const request& r);

    // A request was not answered in time.
    void count_timeout();
    // The node has given an answer that makes it unusable.
    void fail(errc code, std::string text, core::time_point now);

    node_health& health() noexcept { return health_; }
    const node_health& health() const noexcept { return health_; }
    node_stats stats() const;

    node_connection& connection() noexcept { return connection_; }
    core::time_point wake_at() const noexcept
    {
        return std::min(connection_.opening_ends(), watch_.look_at());
    }
    void wake(core::time_point now);
    // Closes it for good. The last failure can still be read.
    void shut(core::time_point now);

private:
    // connection_owner
    std::string admit() override { return owner_.admit(node_); }
    void on_ready(core::time_point now) override;
    void on_reply(reply answer, core::time_point now) override;
    void on_push(reply push, core::time_point now) override { owner_.on_push(node_, push, now); }
    void on_written(std::size_t n, core::time_point now) override;
    void on_lost(failure why, core::time_point now) override;

    const std::size_t node_;
    session_owner& owner_;
    core::wake_time& wakes_;
    node_connection connection_;
    requests_under_way requests_;
    answer_watch watch_;
    node_health health_;
};

} // namespace holdfast::redis
