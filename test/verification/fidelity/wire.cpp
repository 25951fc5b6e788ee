#include "verification/fidelity/wire.hpp"

#include "core/hex.hpp"

#include <netinet/tcp.h>

#include <cctype>
#include <charconv>
#include <stdexcept>

namespace holdfast::test {

namespace {

constexpr std::size_t npos = std::string_view::npos;

} // namespace

wire::wire(std::uint16_t port) : socket_(open_socket())
{
    const auto address = loopback(port);
    const int on = 1;
    const timeval limit{.tv_sec = 20, .tv_usec = 0}; // longer than any correct reply takes
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == -1) {
        ::close(socket_);
        fail("connect");
    }
}

wire::~wire()
{
    ::close(socket_);
}

bool wire::send(const std::vector<std::string_view>& pieces)
{
    for (std::string_view left : pieces) {
        while (!left.empty()) {
            const auto count = ::send(socket_, left.data(), left.size(), MSG_NOSIGNAL);
            if (count < 0 && (errno == EPIPE || errno == ECONNRESET))
                return false;
            if (count < 0 && errno != EINTR)
                fail("send");
            left.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
        }
    }
    return true;
}

// False at the end of the connection.
bool wire::more()
{
    char chunk[16 * 1024];
    for (;;) {
        const auto count = ::recv(socket_, chunk, sizeof chunk, 0);
        if (count > 0)
            buffer_.append(chunk, static_cast<std::size_t>(count));
        // A server that closes with unread input sends a reset.
        if (count == 0 || (count < 0 && errno == ECONNRESET))
            return false;
        if (count > 0)
            return true;
        if (errno != EINTR)
            fail("recv");
    }
}

std::vector<std::string> wire::receive(std::size_t count)
{
    std::vector<std::string> all;
    std::size_t at = 0;
    while (all.size() < count) {
        const std::size_t size = reply_size(std::string_view(buffer_).substr(at));
        if (size != 0) {
            all.push_back(buffer_.substr(at, size));
            at += size;
        } else if (!more()) {
            throw std::runtime_error(
                "the server closed the connection after it had sent " + visible(buffer_));
        }
    }
    buffer_.erase(0, at);
    return all;
}

std::vector<std::string> wire::receive_before(std::string_view last)
{
    std::vector<std::string> all = receive(1);
    while (all.back() != last)
        all.push_back(receive(1).front());
    all.pop_back();
    return all;
}

std::string wire::finish()
{
    ::shutdown(socket_, SHUT_WR);
    while (more()) {
    }
    return std::exchange(buffer_, {});
}

std::size_t reply_size(std::string_view bytes)
{
    const std::size_t end = bytes.find("\r\n");
    if (end == npos)
        return 0;
    std::size_t size = end + 2;
    int n = 0;
    std::from_chars(bytes.data() + 1, bytes.data() + end, n);
    switch (bytes[0]) {
    case '$':
    case '=':
        size += n < 0 ? 0 : static_cast<std::size_t>(n) + 2;
        return size <= bytes.size() ? size : 0;
    case '*':
    case '>':
    case '%':
        for (int left = bytes[0] == '%' ? 2 * n : n; left > 0; --left) {
            const std::size_t next = reply_size(bytes.substr(size));
            if (next == 0)
                return 0;
            size += next;
        }
        return size;
    default:
        return size;
    }
}

std::vector<std::string> replies_in(std::string_view bytes)
{
    std::vector<std::string> all;
    while (!bytes.empty()) {
        const std::size_t size = reply_size(bytes);
        all.emplace_back(bytes.substr(0, size == 0 ? npos : size));
        bytes.remove_prefix(all.back().size());
    }
    return all;
}

std::string line_of(std::string_view info, std::string_view name)
{
    const std::string start = "\n" + std::string(name) + ":";
    const std::size_t at = info.find(start);
    if (at == info.npos)
        return {};
    const std::size_t from = at + start.size();
    return std::string(info.substr(from, info.find('\r', from) - from));
}

std::string all_of(const std::vector<std::string>& replies)
{
    std::string all;
    for (const std::string& reply : replies)
        all += reply;
    return all;
}

std::string visible(std::string_view bytes)
{
    std::string all;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\r')
            all += "\\r";
        else if (c == '\n')
            all += "\\n";
        else if (std::isprint(byte) != 0)
            all += c;
        else
            core::append_escaped(all, byte);
    }
    return all;
}

} // namespace holdfast::test
