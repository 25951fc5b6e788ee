#pragma once

#include "core/connection.hpp"
#include "io/opener.hpp"
#include "io/transport.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace holdfast::io {

// Serves a connection with a socket: opens, reads, writes and closes it as the connection requests.
//
// No pending operation refers to a buffer that may be destroyed earlier: reads use a buffer that
// belongs to the socket, and writes do not block. (Waiting until the socket is readable would need
// no buffer. But it costs an epoll_ctl() each time, while this costs a recv() without data.)
class link final : public transport {
public:
    link(transport_owner& owner, core::connection& served, const asio::any_io_executor& executor);

    bool follow(core::time_point now) override;
    void flush(core::time_point now) override;
    bool has_output() const noexcept override;
    void close() noexcept override;
    core::time_point read_until(core::time_point now) const noexcept override
    {
        return state_ == state::open ? read_until_ : now;
    }
    void note_empty(core::time_point now) override;
    void confirm_empty() noexcept override;

private:
    using protocol = asio::generic::stream_protocol;
    using arrivals = std::array<char, 16 * 1024>;
    enum class state : std::uint8_t { closed, opening, open };

    void on_opened(protocol::socket&& opened);
    void start_reading();
    void on_read(std::string_view bytes);
    bool take(std::string_view bytes, core::time_point now);
    void wait_writable();
    void broken(error_code why, core::time_point now);

    handler_guard guarded_; // its handlers belong to the present socket
    core::connection& connection_;
    protocol::socket socket_;
    opener opener_;
    bool heard_ = false;                 // whether the peer has sent anything
    std::shared_ptr<arrivals> arrivals_; // the read buffer of the socket
    core::time_point reading_since_{}, read_until_{}, seemed_empty_at_{};
    state state_ = state::closed;
    bool waiting_writable_ = false;
};

} // namespace holdfast::io
