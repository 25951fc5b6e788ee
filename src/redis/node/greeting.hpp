#pragma once

#include "core/time.hpp"
#include "redis/node/handshake.hpp"
#include "redis/node/node_settings.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/server_info.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace holdfast::redis {

// The greeting of a node on each of its connections, and what the last one has found.
class greeting {
public:
    // `settings` outlive it.
    explicit greeting(const node_settings& settings) noexcept : settings_(settings) {}

    // Appends the first commands to `out`. False if the program gives no credentials.
    bool start(const core::address& where, std::string& out);
    bool expects(reply push) const noexcept { return handshake_.expects(push); }
    // Takes the next reply; may append more commands.
    handshake::outcome on_reply(reply answer, core::time_point now, std::string& out);
    const failure& why() const noexcept { return handshake_.why(); }

    // Keeps no queue and tracks nothing while the node is not ready.
    const server_info& server() const noexcept { return server_; }
    // It has refused to keep a queue. Until the next greeting.
    void has_no_queue() noexcept { server_.keeps_queue = false; }

    // The greeting is over, and so many bytes of it are still to be sent.
    void over(std::size_t unsent) noexcept { unsent_ = unsent; }
    // `n` bytes have been sent. How many of them come after the greeting.
    std::size_t past(std::size_t n) noexcept
    {
        const std::size_t of_it = std::min(unsent_, n);
        unsent_ -= of_it;
        return n - of_it;
    }
    // The connection is given up.
    void lost() noexcept;

private:
    const node_settings& settings_;
    handshake handshake_;
    server_info server_;
    std::size_t unsent_ = 0;
};

} // namespace holdfast::redis
