#include "wire_connection.hpp"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace benchmark {
namespace {

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

wire_connection::wire_connection(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)),
      buffer_(64 * 1024)
{
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
        ::close(socket_);
        fail("connect");
    }
}

wire_connection::~wire_connection()
{
    ::close(socket_);
}

std::string wire_connection::ask(std::string_view command)
{
    output_ = command;
    while (!flush()) {
    }
    std::string all;
    while (std::count(all.begin(), all.end(), '\n') < 2)
        all += read_some();
    return all;
}

bool wire_connection::flush()
{
    while (written_ < output_.size()) {
        const ssize_t n = ::send(socket_, output_.data() + written_, output_.size() - written_,
            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n == -1 && errno == EAGAIN)
            return false;
        if (n == -1)
            fail("send");
        written_ += static_cast<std::size_t>(n);
    }
    output_.clear();
    written_ = 0;
    return true;
}

std::string_view wire_connection::read_some()
{
    const ssize_t n = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (n <= 0)
        fail("recv");
    return {buffer_.data(), static_cast<std::size_t>(n)};
}

void wire_connection::fail_on_other_reply()
{
    throw std::runtime_error("a node has refused or kept a key");
}

} // namespace benchmark
