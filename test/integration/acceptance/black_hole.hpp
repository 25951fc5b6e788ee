#pragma once

#include "support/redis_client.hpp"

#include <fcntl.h>
#include <poll.h>

#include <string>
#include <vector>

namespace holdfast::test {

/// An address that does not answer connection attempts, not even with a refusal: a listening socket
/// with a full queue, so that the kernel drops new connections.
class black_hole {
public:
    /// At 127.0.0.`host`. Port 0: any free port.
    explicit black_hole(unsigned host = 1, std::uint16_t port = 0)
        : host_(host),
          listener_(open_socket())
    {
        auto address = place(port);
        socklen_t size = sizeof address;
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, generic, size) == -1 || ::listen(listener_, 0) == -1 ||
            ::getsockname(listener_, generic, &size) == -1)
            fail("no listening socket");
        port_ = ntohs(address.sin_port);
        while (connects()) {
        }
    }

    black_hole(const black_hole&) = delete;
    black_hole& operator=(const black_hole&) = delete;

    ~black_hole()
    {
        ::close(listener_);
        for (const int each : fillers_)
            ::close(each);
    }

    std::string host() const { return "127.0.0." + std::to_string(host_); }
    std::string address() const { return host() + ":" + std::to_string(port_); }
    std::string url() const { return "redis://" + address(); }

    /// Whether one more connection is accepted; that fills the queue.
    bool connects()
    {
        const int socket = open_socket();
        fillers_.push_back(socket);
        ::fcntl(socket, F_SETFL, O_NONBLOCK);
        const auto address = place(port_);
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        pollfd ready{.fd = socket, .events = POLLOUT, .revents = 0};
        return ::poll(&ready, 1, 100) == 1; // on loopback it takes microseconds
    }

private:
    sockaddr_in place(std::uint16_t port) const
    {
        auto address = loopback(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host_);
        return address;
    }

    unsigned host_;
    int listener_;
    std::uint16_t port_ = 0;
    std::vector<int> fillers_;
};

} // namespace holdfast::test
