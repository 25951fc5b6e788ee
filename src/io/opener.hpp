#pragma once

#include "core/address_race.hpp"
#include "core/connection.hpp"
#include "io/look_up.hpp"
#include "io/transport.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;

// Opens a socket to a target: looks its name up and tries the addresses in a race. Remembers which
// address has answered. Called under the owner's mutex.
class opener {
public:
    using protocol = asio::generic::stream_protocol;
    // An error, or the socket. Called under the owner's mutex, never inside start().
    using handler = std::function<void(error_code, protocol::socket&&)>;

    opener(transport_owner& owner, const asio::any_io_executor& executor, handler done);

    // The race must be over at `end`. Precondition: stopped.
    void start(const core::address& target, core::time_point end);
    void stop() noexcept;

    // The peer of the latest socket has sent something: its address is tried first the next time.
    void heard() noexcept;
    // It accepted the connection and then sent nothing: its address is tried last the next time.
    void silent() noexcept { silent_ = where_; }

private:
    void begin_race(core::time_point end);
    void go_on();
    void attempt(const protocol::endpoint& where);
    void finish(error_code ec, std::size_t attempt = 0);

    handler_guard guarded_;
    const asio::any_io_executor executor_;
    const handler done_;
    std::optional<look_up> look_up_;
    std::string looked_up_; // the name and the port
    std::vector<protocol::endpoint> candidates_;
    core::address_race race_; // of the candidates
    std::deque<protocol::socket> attempts_;
    std::optional<asio::steady_timer> next_attempt_;
    error_code last_error_;
    protocol::endpoint where_; // the peer of the latest socket
    std::optional<protocol::endpoint> good_, silent_;
};

} // namespace holdfast::io
