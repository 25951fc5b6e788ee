#include "wire_limit.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace benchmark {

namespace {

constexpr std::string_view release_text =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

std::string encoded(const std::vector<std::string>& words)
{
    std::string out = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words)
        out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return out;
}

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

class connection {
public:
    explicit connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int yes = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
            fail("connect");
    }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection() { ::close(socket_); }

    int handle() const { return socket_; }

    void send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0)
                fail("send");
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
    }

    // Reads once and returns how many replies came: each of ours is one line.
    std::size_t receive()
    {
        const ssize_t n = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
        if (n <= 0)
            fail("recv");
        return static_cast<std::size_t>(std::count(buffer_.begin(), buffer_.begin() + n, '\n'));
    }

    std::string line()
    {
        std::string all;
        while (!all.ends_with("\r\n") || std::count(all.begin(), all.end(), '\n') < 2) {
            const ssize_t n = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
            if (n <= 0)
                fail("recv");
            all.append(buffer_.data(), static_cast<std::size_t>(n));
        }
        return all;
    }

private:
    int socket_;
    std::array<char, 64 * 1024> buffer_{};
};

void wait_for_all(std::deque<connection>& nodes, int poll, std::size_t replies_each)
{
    std::vector<std::size_t> missing(nodes.size(), replies_each);
    std::size_t open = nodes.size();
    while (open > 0) {
        std::array<epoll_event, 16> events{};
        const int n = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < n; ++i) {
            const auto node = events[static_cast<std::size_t>(i)].data.u64;
            missing[node] -= nodes[node].receive();
            open -= missing[node] == 0 ? 1u : 0u;
        }
    }
}

} // namespace

double cpu_seconds_now()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

result run_wire_limit(
    const std::vector<std::uint16_t>& ports, std::size_t depth, std::chrono::milliseconds length)
{
    std::deque<connection> nodes;
    const int poll = ::epoll_create1(0);
    std::string digest;
    for (const std::uint16_t port : ports) {
        connection& node = nodes.emplace_back(port);
        node.send(encoded({"SCRIPT", "LOAD", std::string(release_text)}));
        digest = node.line().substr(5, 40);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = nodes.size() - 1;
        ::epoll_ctl(poll, EPOLL_CTL_ADD, node.handle(), &event);
    }

    std::string sets, removes;
    for (std::size_t i = 0; i < depth; ++i) {
        const std::string key = "wire:" + std::to_string(i);
        const std::string token(32, 'f');
        sets += encoded({"SET", key, token, "NX", "PX", "10000"});
        removes += encoded({"EVALSHA", digest, "1", key, token});
    }

    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const double cpu_begin = cpu_seconds_now();
    result r;
    while (clock::now() - begin < length) {
        for (connection& node : nodes)
            node.send(sets);
        wait_for_all(nodes, poll, depth);
        for (connection& node : nodes)
            node.send(removes);
        wait_for_all(nodes, poll, depth);
        r.locks += depth;
    }
    r.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    r.cpu_seconds = cpu_seconds_now() - cpu_begin;
    ::close(poll);
    return r;
}

} // namespace benchmark
