#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace benchmark {

// The expected reply: a resource, and the step to which it belongs.
struct expected_reply {
    std::uint32_t resource = 0, step = 0;
};

// A connection of the wire limit: raw bytes out, lines in.
class wire_connection {
public:
    explicit wire_connection(std::uint16_t port);
    wire_connection(const wire_connection&) = delete;
    wire_connection& operator=(const wire_connection&) = delete;
    ~wire_connection();

    int handle() const { return socket_; }

    // Sends a command that has a reply of two lines, and waits for it.
    std::string ask(std::string_view command);

    void queue(std::string_view command, expected_reply reply)
    {
        output_ += command;
        expected_.push_back(reply);
    }

    // Writes as much of the queued bytes as possible; false if the socket is full.
    bool flush();

    // Reads once and calls `on_reply` for each complete line.
    template <class OnReply>
    void receive(OnReply on_reply)
    {
        for (const char c : read_some()) {
            if (line_begins_ && c == '-')
                fail_on_error();
            line_begins_ = c == '\n';
            if (!line_begins_)
                continue;
            const expected_reply reply = expected_.front();
            expected_.pop_front();
            on_reply(reply);
        }
    }

    bool idle() const { return expected_.empty(); }

private:
    std::string_view read_some();
    [[noreturn]] void fail_on_error();

    int socket_;
    bool line_begins_ = true;
    std::string output_;
    std::size_t written_ = 0;
    std::deque<expected_reply> expected_;
    std::vector<char> buffer_;
};

} // namespace benchmark
