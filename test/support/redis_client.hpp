#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast::test {

[[noreturn]] inline void fail(const std::string& what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

inline sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

inline int open_socket()
{
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket == -1)
        fail("socket");
    return socket;
}

inline std::string encode_command(const std::vector<std::string>& words)
{
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words)
        text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return text;
}

// Reads one reply, RESP2 or RESP3, from a blocking socket that has a timeout.
class reply_reader {
public:
    explicit reply_reader(int socket) : socket_(socket) {}

    std::string read()
    {
        const auto head = line();
        if (head.empty())
            throw std::runtime_error("redis-server sent an empty line");
        const auto rest = head.substr(1);
        switch (head.front()) {
        case '-':
            return "(error) " + rest;
        case '_':
            return "(nil)";
        case '$':
        case '=':
            return rest == "-1" ? "(nil)" : bytes(std::stoul(rest));
        case '*':
        case '~':
        case '>':
            return rest == "-1" ? "(nil)" : elements(std::stoul(rest));
        case '%':
            return elements(2 * std::stoul(rest));
        default: // simple strings and numbers
            return rest;
        }
    }

private:
    std::string elements(std::size_t count)
    {
        std::string text;
        for (std::size_t i = 0; i < count; ++i)
            text += (i == 0 ? "" : "\n") + read();
        return text;
    }

    std::string line()
    {
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n")) == std::string::npos)
            more();
        return take(end);
    }

    std::string bytes(std::size_t count)
    {
        while (buffer_.size() < count + 2)
            more();
        return take(count);
    }

    std::string take(std::size_t count)
    {
        auto text = buffer_.substr(0, count);
        buffer_.erase(0, count + 2);
        return text;
    }

    void more()
    {
        char chunk[4096];
        const auto count = ::recv(socket_, chunk, sizeof chunk, 0);
        if (count == 0)
            throw std::runtime_error("redis-server closed the connection");
        if (count < 0 && errno != EINTR)
            fail("no reply from redis-server");
        if (count > 0)
            buffer_.append(chunk, static_cast<std::size_t>(count));
    }

    int socket_;
    std::string buffer_;
};

// One connection to a server on a loopback port, used for one command after another.
class redis_client {
public:
    redis_client() = default;
    redis_client(redis_client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    redis_client& operator=(redis_client&& other) noexcept
    {
        disconnect();
        socket_ = std::exchange(other.socket_, -1);
        return *this;
    }
    ~redis_client() { disconnect(); }

    std::string command(std::uint16_t port, const std::vector<std::string>& words,
        std::chrono::milliseconds timeout)
    {
        if (socket_ == -1)
            connect(port);
        try {
            limit(timeout);
            const auto request = encode_command(words);
            const auto sent = ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
            if (sent != static_cast<ssize_t>(request.size()))
                fail("cannot send to redis-server");
            return reply_reader(socket_).read();
        } catch (...) {
            disconnect(); // a late reply must not be taken as the reply to the next command
            throw;
        }
    }

    void disconnect() noexcept
    {
        if (socket_ != -1)
            ::close(socket_);
        socket_ = -1;
    }

private:
    void connect(std::uint16_t port)
    {
        socket_ = open_socket();
        const auto address = loopback(port);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == -1) {
            const int error = errno;
            disconnect();
            throw std::system_error(error, std::generic_category(), "redis-server does not accept");
        }
    }

    void limit(std::chrono::milliseconds timeout)
    {
        timeval value{};
        value.tv_sec = static_cast<decltype(value.tv_sec)>(timeout.count() / 1000);
        value.tv_usec = static_cast<decltype(value.tv_usec)>(timeout.count() % 1000 * 1000);
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
    }

    int socket_ = -1;
};

} // namespace holdfast::test
