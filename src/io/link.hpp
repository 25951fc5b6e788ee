#pragma once

#include "core/address_race.hpp"
#include "core/connection.hpp"
#include "io/look_up.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;
class engine;

// Serves one connection of a backend with a socket: opens, reads, writes and closes as the
// connection says. All members are called under the engine's mutex.
//
// No operation in progress refers to a buffer that could go before it ends: what is read arrives in
// a buffer that belongs to the socket, and writes do not block. (To wait until the socket is
// readable would need no buffer, but costs an epoll_ctl() each time, where this costs a recv() that
// finds nothing.) What completes for a socket that has been closed since is known by its number and
// ignored.
class link {
public:
    link(engine& owner, core::connection& served, const asio::any_io_executor& executor);

    // Opens or closes the socket if the connection wants it so. True if that changed anything.
    bool follow(core::time_point now);
    // Sends what there is to send, as far as the socket takes it. `now`: at the latest just before.
    void flush(core::time_point now);
    // Until when all that arrived has been read.
    core::time_point read_until(core::time_point now) const noexcept
    {
        return state_ == state::open ? read_until_ : now;
    }
    // What has been read and not been taken yet, is taken by what the executor runs next: so, if
    // nothing is left to be read now, confirm_empty() there says that all of before has been.
    void note_empty(core::time_point now);
    void confirm_empty() noexcept;
    // Whether flush() would send something.
    bool has_output() const noexcept;
    void close() noexcept;

private:
    using protocol = asio::generic::stream_protocol;
    using arrivals = std::array<char, 16 * 1024>;
    enum class state : std::uint8_t { closed, opening, open };

    template <class Handler>
    auto guarded(Handler handler);

    void start_opening();
    void begin_race();
    void go_on_racing();
    void try_address(const protocol::endpoint& where);
    void on_connected(std::size_t attempt);
    void on_heard();
    void start_reading();
    void on_read(std::string_view bytes);
    bool take(std::string_view bytes, core::time_point now);
    void wait_writable();
    void broken(error_code why, core::time_point now);

    engine& engine_;
    core::connection& connection_;
    look_up look_up_;
    protocol::socket socket_;
    std::vector<protocol::endpoint> candidates_;
    core::address_race race_; // of these
    std::deque<protocol::socket> attempts_;
    std::optional<asio::steady_timer> next_attempt_;
    error_code last_error_;
    protocol::endpoint where_; // the socket is connected to
    bool heard_ = false;       // anything from there
    std::optional<protocol::endpoint> good_, silent_;
    std::shared_ptr<arrivals> arrivals_; // of this socket
    std::uint64_t socket_number_ = 0;
    core::time_point reading_since_{}, read_until_{}, seemed_empty_at_{};
    state state_ = state::closed;
    bool waiting_writable_ = false;
};

} // namespace holdfast::io
