#pragma once

#include "redis/node/reply.hpp"
#include "redis/node/request.hpp"

#include <holdfast/stats.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

// What is wrong with a node, for people and for the results of attempts, and its counters.
class node_health {
public:
    // Of the connection, or the last error that the node has answered and not made good since.
    const failure& last_failure() const noexcept { return failure_; }
    // What the node cannot do for us now, although the connection is in order. Empty if there is no
    // trouble.
    const failure& trouble() const noexcept { return trouble_; }
    // The failure, or the trouble if there is none.
    const failure& worst() const noexcept { return failure_.code ? failure_ : trouble_; }

    void on_ready();
    void on_lost(failure why);
    // The connection was closed for good. `before`: what was wrong until then, which can still be
    // read.
    void on_shut(const failure& before);

    void on_sent() noexcept { ++commands_; }
    void on_timeout();
    void on_refused(request_kind kind, const failure& why);
    // The node has executed a request.
    void on_done(request_kind kind) noexcept
    {
        if (failure_.code && refused_kind_.value_or(kind) == kind)
            forget(); // it now does what it had refused; other requests prove nothing
    }

    // Prefixes the text of the error that the node has just answered with what it is about.
    void explain(std::string_view about) { failure_.text.insert(0, about); }
    void note_trouble(failure why);

    // All but the address and whether it is connected.
    node_stats stats() const;

private:
    void forget() noexcept;

    failure failure_, trouble_;
    std::optional<request_kind> refused_kind_; // of the request that failure_ is the answer to
    std::uint64_t commands_ = 0, timeouts_ = 0, connects_ = 0;
};

} // namespace holdfast::redis
