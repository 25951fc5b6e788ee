#pragma once

#include "support/redis_client.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// A raw connection to a real server.
class wire {
public:
    explicit wire(std::uint16_t port);
    wire(const wire&) = delete;
    wire& operator=(const wire&) = delete;
    ~wire();

    // Sends the pieces one by one, each in its own segment; false once the server has closed.
    bool send(const std::vector<std::string_view>& pieces);

    // Receives this many complete replies.
    std::vector<std::string> receive(std::size_t count);

    // Receives all replies up to `last`, and returns them without `last`.
    std::vector<std::string> receive_before(std::string_view last);

    // Shuts down the sending side, and receives all bytes until the server closes.
    std::string finish();

private:
    bool more();

    int socket_;
    std::string buffer_;
};

// The size of the first reply in `bytes`; 0 if it is not complete.
std::size_t reply_size(std::string_view bytes);

// All replies in `bytes`; an incomplete one is the last.
std::vector<std::string> replies_in(std::string_view bytes);

std::string all_of(const std::vector<std::string>& replies);

// The value of a line of INFO.
std::string line_of(std::string_view info, std::string_view name);

// Makes bytes readable: line breaks and other non-printable bytes are escaped as in C++.
std::string visible(std::string_view bytes);

} // namespace holdfast::test
