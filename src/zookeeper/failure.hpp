#pragma once

#include <holdfast/error.hpp>

#include <cstdint>
#include <string>

namespace holdfast::zookeeper_store {

// What an error code in a reply means.
struct failure {
    enum class remedy : std::uint8_t {
        none,         // the request itself is refused
        new_session,  // the session has ended
        other_server, // this server, or this connection, cannot serve it
    };

    errc reason{};
    remedy helps{};
};

failure failure_of(std::int32_t code) noexcept;
// For people.
std::string in_words(std::int32_t code);

// What a caller is told where no server can be used for this reason.
inline errc reason_or_unreachable(errc why) noexcept
{
    return why == errc{} || why == errc::no_reply ? errc::unreachable : why;
}

} // namespace holdfast::zookeeper_store
