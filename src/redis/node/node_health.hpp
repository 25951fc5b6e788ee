#pragma once

#include "core/time.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/request.hpp"

#include <holdfast/stats.hpp>

#include <cstdint>
#include <optional>
#include <string>
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

    // `run_id`: of the server process; empty if it does not tell it.
    void on_ready(std::string_view run_id);
    void on_lost(failure why);
    // The connection was closed for good. `before`: what was wrong until then, which can still be
    // read.
    void on_shut(const failure& before);

    void on_sent() noexcept { ++counts_.commands; }
    void on_answered(core::duration latency) noexcept { counts_.latency.record(latency); }
    void on_clock_jump() noexcept { ++counts_.clock_jumps; }
    void on_redirected() noexcept { ++redirections_; }
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
    // Another client's key has an end, or has none: then no lock gets it until a person deletes it.
    void note_end(std::string_view key, bool ends)
    {
        if (!ends)
            endless_key_ = key;
        else if (!endless_key_.empty() && endless_key_ == key)
            endless_key_.clear();
    }

    // How often another server process has answered the greeting than before.
    std::uint64_t restarts() const noexcept { return counts_.restarts; }

    // How many requests it has refused because their slot is not there, or not there alone.
    std::uint64_t redirections() const noexcept { return redirections_; }

    // All but the address and whether it is connected.
    node_stats stats() const;

private:
    void forget() noexcept;

    failure failure_, trouble_;
    std::string endless_key_;
    std::optional<request_kind> refused_kind_; // of the request that failure_ is the answer to
    node_stats counts_;                        // without what is found out by stats()
    std::uint64_t redirections_ = 0;
    std::string run_id_; // the last one that was told
};

} // namespace holdfast::redis
