#pragma once

#include "redis/node/scripts.hpp"
#include "resp/reader.hpp"
#include "support/run.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// A server on a loopback port that answers each command with bytes chosen by the test, right or
/// wrong. It has its own thread.
class scripted_node {
public:
    using words = std::vector<std::string>;
    /// Returns the bytes to send for a command. Called on the node's thread.
    using script = std::function<std::string(const words&)>;

    /// `between_bytes`: the pause after each byte of an answer.
    explicit scripted_node(script answer, steady::duration between_bytes = 0ms)
        : answer_(std::move(answer)),
          between_bytes_(between_bytes),
          run_id_("scripted-" + unique_name())
    {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }

    scripted_node(const scripted_node&) = delete;
    scripted_node& operator=(const scripted_node&) = delete;

    ~scripted_node()
    {
        io_.stop();
        thread_.join();
    }

    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    std::string url() const { return "redis://" + address(); }
    int accepted() const { return accepted_; } ///< connections so far
    int closed() const { return closed_; }     ///< of these, closed by the client

    /// The number of commands so far that begin with this word.
    int count(const std::string& command) const
    {
        const std::lock_guard lock(mutex_);
        return static_cast<int>(std::count_if(
            log_.begin(), log_.end(), [&](const words& w) { return w.front() == command; }));
    }

    /// The answers of a correct node that holds no keys and grants none.
    std::string polite_answer(const words& w) const
    {
        const auto blob = [](std::string_view text) {
            return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
        };
        if (w[0] == "HELLO")
            return "%2\r\n" + blob("mode") + blob("standalone") + blob("role") + blob("master");
        if (w[0] == "INFO")
            return blob("run_id:" + run_id_ + "\r\n");
        if (w[0] == "SCRIPT") {
            for (const redis::script& s : {redis::release_script, redis::renew_script,
                     redis::pass_on_script, redis::enqueue_script})
                if (w[2] == s.text)
                    return blob(s.digest);
        }
        if (w[0] == "SUBSCRIBE")
            return ">3\r\n" + blob("subscribe") + blob(w[1]) + ":1\r\n";
        if (w[0] == "CLIENT")
            return "+OK\r\n";
        if (w[0] == "TYPE")
            return "+none\r\n";
        return w[0] == "SET" ? "_\r\n" : ":0\r\n";
    }

private:
    using tcp = asio::ip::tcp;

    task accept()
    {
        for (;;) {
            tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
            ++accepted_;
            asio::co_spawn(io_, serve(std::move(socket)), asio::detached);
        }
    }

    task serve(tcp::socket socket)
    {
        resp::reader reader;
        for (;;) {
            const std::span<char> space = reader.prepare(4096);
            const auto into = asio::buffer(space.data(), space.size());
            auto [ec, n] = co_await socket.async_read_some(into, no_throw);
            if (ec)
                break;
            reader.commit(n);
            while (reader.next() == resp::reader::status::reply) {
                const std::string bytes = answer(reader.reply());
                const bool sent = co_await send(socket, bytes);
                if (!sent)
                    break;
            }
        }
        ++closed_;
    }

    std::string answer(std::span<const resp::value> command)
    {
        words w;
        for (const resp::value& each : command.subspan(1))
            w.emplace_back(each.text);
        {
            const std::lock_guard lock(mutex_);
            log_.push_back(w);
        }
        return answer_ ? answer_(w) : polite_answer(w);
    }

    asio::awaitable<bool> send(tcp::socket& socket, const std::string& bytes)
    {
        const std::size_t step = between_bytes_ == 0ms ? bytes.size() : 1;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            const auto part = asio::buffer(bytes.data() + at, step);
            auto [ec, n] = co_await asio::async_write(socket, part, no_throw);
            if (ec)
                co_return false;
            if (step != bytes.size())
                co_await pause(between_bytes_);
        }
        co_return true;
    }

    script answer_;
    steady::duration between_bytes_;
    std::string run_id_;
    asio::io_context io_;
    tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
    std::uint16_t port_ = acceptor_.local_endpoint().port();
    std::atomic<int> accepted_ = 0, closed_ = 0;
    mutable std::mutex mutex_;
    std::vector<words> log_;
    std::thread thread_;
};

} // namespace holdfast::test
