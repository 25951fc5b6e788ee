#pragma once

#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::shell {

namespace asio = boost::asio;

// Looks a host name up, on a thread of its own. Asio's resolver has one thread for a whole context,
// where one name whose servers do not answer holds up all the others, and the end of the program.
//
// When this object is destroyed or replaced, nobody hears of the result any more, and the thread is
// left to itself until the operating system lets it go.
class look_up {
public:
    using endpoints = std::vector<asio::ip::tcp::endpoint>;
    using handler = std::function<void(error_code, const endpoints&)>;

    look_up() = default;

    // The handler is posted to the executor, whose context must live as long as this object.
    look_up(const asio::any_io_executor& executor, const std::string& host, std::uint16_t port,
        handler done);
    look_up(look_up&& other) noexcept = default;
    look_up& operator=(look_up&& other) noexcept;
    ~look_up() { forget(); }

private:
    struct mailbox;
    void forget() noexcept;

    std::shared_ptr<mailbox> mailbox_;
};

} // namespace holdfast::shell
