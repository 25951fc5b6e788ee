#pragma once

#include "support/redis_client.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// The bytes of a connection to a real server, as they are.
class wire {
public:
    explicit wire(std::uint16_t port);
    wire(const wire&) = delete;
    wire& operator=(const wire&) = delete;
    ~wire();

    // One piece after another, in segments of their own; false once the server has closed.
    bool send(const std::vector<std::string_view>& pieces);

    // So many replies, each as a whole.
    std::vector<std::string> receive(std::size_t count);

    // What comes before this reply; that is taken as well.
    std::vector<std::string> receive_before(std::string_view last);

    // Says that nothing more will be sent, and takes what comes until the server closes.
    std::string finish();

private:
    bool more();

    int socket_;
    std::string buffer_;
};

// How many bytes the first reply in `bytes` has; 0 if it is not complete.
std::size_t reply_size(std::string_view bytes);

// All replies in `bytes`; an incomplete one is the last.
std::vector<std::string> replies_in(std::string_view bytes);

std::string all_of(const std::vector<std::string>& replies);

// The value of a line of INFO.
std::string line_of(std::string_view info, std::string_view name);

// For people to read: line breaks and other bytes that one does not see are written as in C++.
std::string visible(std::string_view bytes);

} // namespace holdfast::test
