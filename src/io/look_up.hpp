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

// Looks a host name up, on a thread of its own. Asio's resolver has one thread for a whole context,
// where one name whose servers do not answer holds up all the others, and the end of the program.
//
// It looks one name up, again and again, but never twice at once: while a name service is silent,
// one thread waits for it. When this object is destroyed, that thread is left to itself until the
// operating system lets it go.
class look_up {
public:
    using endpoints = std::vector<asio::ip::tcp::endpoint>;
    using handler = std::function<void(error_code, const endpoints&)>;

    look_up() = default;
    look_up(const look_up&) = delete;
    look_up& operator=(const look_up&) = delete;
    ~look_up() { forget(); }

    // Hands the handler the result of the look-up that is under way, or else of a new one. It is
    // posted to the executor, whose context must live until forget(). Precondition: the same host
    // and port each time, and no other handler waits.
    void start(const asio::any_io_executor& executor, const std::string& host, std::uint16_t port,
        handler done);

    // The handler is not wanted any more.
    void forget() noexcept;

private:
    struct mailbox;

    std::shared_ptr<mailbox> mailbox_; // of the latest look-up
};

} // namespace holdfast::io
