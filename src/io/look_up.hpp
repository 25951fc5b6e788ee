#pragma once

#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;

// Looks up a host name on a separate thread. Asio's resolver has one thread for a whole context:
// one name whose servers do not answer would delay all other names and the end of the program.
//
// The object looks up one name repeatedly, but never twice at once: while a name service is silent,
// one thread waits for it. If this object is destroyed meanwhile, the detached thread ends when the
// operating system returns from the look-up.
class look_up {
public:
    using endpoints = std::vector<asio::ip::tcp::endpoint>;
    using handler = std::function<void(error_code, const endpoints&)>;

    look_up() = default;
    look_up(const look_up&) = delete;
    look_up& operator=(const look_up&) = delete;
    ~look_up() { forget(); }

    // Passes the handler the result of the look-up that is under way, or else of a new one. The
    // handler is posted to the executor, whose context must live until forget(). Precondition: the
    // same host and port each time, and no other handler waits.
    void start(const asio::any_io_executor& executor, const std::string& host, std::uint16_t port,
        handler done);

    // Drops the handler.
    void forget() noexcept;

private:
    struct mailbox;

    std::shared_ptr<mailbox> mailbox_; // of the latest look-up
};

} // namespace holdfast::io
