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

// What a link belongs to.
class link_owner {
public:
    // Keeps the owner, and so the link, alive.
    virtual std::shared_ptr<link_owner> owned() = 0;
    // Runs `action(context)` under the owner's mutex, then performs its consequences; nothing if
    // the owner has been abandoned.
    virtual void enter_from_link(void (*action)(void*), void* context) = 0;

protected:
    ~link_owner() = default;
};

// Serves one connection of a backend with a socket: opens, reads, writes and closes it as the
// connection requests. All members are called under the owner's mutex.
//
// No pending operation refers to a buffer that may be destroyed earlier: reads use a buffer that
// belongs to the socket, and writes do not block. (Waiting until the socket is readable would need
// no buffer. But it costs an epoll_ctl() each time, while this costs a recv() without data.) A
// completion for a socket that has been closed since is recognised by its number and ignored.
class link {
public:
    link(link_owner& owner, core::connection& served, const asio::any_io_executor& executor);

    // Opens or closes the socket if the connection requests it. True if that changed anything.
    bool follow(core::time_point now);
    // Sends the pending output, as far as the socket takes it. `now`: a time just before the call,
    // or earlier.
    void flush(core::time_point now);
    // All bytes that had arrived by this time have been read.
    core::time_point read_until(core::time_point now) const noexcept
    {
        return state_ == state::open ? read_until_ : now;
    }
    // note_empty() records whether the socket has unread bytes now. Bytes that were read but not
    // processed yet belong to completions that the executor has already queued. So call
    // confirm_empty() from a handler posted after note_empty(): if there were no unread bytes, all
    // bytes that had arrived by `now` have been processed by then.
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

    link_owner& owner_;
    core::connection& connection_;
    look_up look_up_;
    protocol::socket socket_;
    std::vector<protocol::endpoint> candidates_;
    core::address_race race_; // of the candidates
    std::deque<protocol::socket> attempts_;
    std::optional<asio::steady_timer> next_attempt_;
    error_code last_error_;
    protocol::endpoint where_; // the peer of the socket
    bool heard_ = false;       // whether the peer has sent anything
    std::optional<protocol::endpoint> good_, silent_;
    std::shared_ptr<arrivals> arrivals_; // the read buffer of the socket
    std::uint64_t socket_number_ = 0;
    core::time_point reading_since_{}, read_until_{}, seemed_empty_at_{};
    state state_ = state::closed;
    bool waiting_writable_ = false;
};

} // namespace holdfast::io
