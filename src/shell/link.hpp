#pragma once

#include "core/connection.hpp"
#include "shell/look_up.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast::shell {

namespace asio = boost::asio;
class engine;

// Serves one connection of a backend with a socket: opens, reads, writes and closes as the
// connection says. All members are called under the engine's mutex.
//
// Waits for readiness and then reads or writes without blocking, so that no operation in progress
// ever refers to a buffer. What completes for a socket that has been closed since is known by its
// number and ignored.
class link {
public:
    link(engine& owner, core::connection& served, const asio::any_io_executor& executor);

    // Opens or closes the socket if the connection wants it so. True if that changed anything.
    bool follow(core::time_point now);
    // Sends what there is to send, as far as the socket takes it.
    void flush(core::time_point now);
    // Whether flush() would send something.
    bool has_output() const noexcept;
    void close() noexcept;

private:
    using protocol = asio::generic::stream_protocol;
    enum class state : std::uint8_t { closed, opening, open };

    template <class Handler>
    auto guarded(Handler handler);

    void start_opening();
    void connect_next();
    void on_connected();
    void wait_readable();
    void wait_writable();
    void read();
    void broken(error_code why, core::time_point now);

    engine& engine_;
    core::connection& connection_;
    look_up look_up_;
    protocol::socket socket_;
    std::vector<protocol::endpoint> candidates_;
    std::size_t next_candidate_ = 0;
    error_code last_error_;
    std::uint64_t socket_number_ = 0;
    state state_ = state::closed;
    bool waiting_writable_ = false;
};

} // namespace holdfast::shell
