#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace benchmark {

// The expected reply: a resource, and the step to which it belongs. In even steps the reply grants
// a key, in odd ones it has deleted one.
struct expected_reply {
    std::uint32_t resource = 0, step = 0;

    std::string_view text() const { return step % 2 == 0 ? "+OK\r\n" : ":1\r\n"; }
};

// A connection of the wire limit: raw bytes out, expected bytes in.
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

    // Reads once and calls `on_reply` for each complete reply. Throws if it is not the expected
    // one.
    template <class OnReply>
    void receive(OnReply on_reply)
    {
        for (const char c : read_some()) {
            if (expected_.empty() || c != expected_.front().text()[matched_])
                fail_on_other_reply();
            ++matched_;
            if (c != '\n')
                continue;
            matched_ = 0;
            const expected_reply reply = expected_.front();
            expected_.pop_front();
            on_reply(reply);
        }
    }

    bool idle() const { return expected_.empty(); }

private:
    std::string_view read_some();
    [[noreturn]] void fail_on_other_reply();

    int socket_;
    std::size_t matched_ = 0; // bytes of the reply that is expected next
    std::string output_;
    std::size_t written_ = 0;
    std::deque<expected_reply> expected_;
    std::vector<char> buffer_;
};

} // namespace benchmark
