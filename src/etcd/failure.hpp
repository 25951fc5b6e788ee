#pragma once

#include <holdfast/error.hpp>

#include <string_view>

namespace holdfast::etcd_store {

// What the failure of a call means.
struct failure {
    enum class remedy : std::uint8_t {
        none,         // the request itself is refused
        new_lease,    // the lease of the session is gone
        login_again,  // the login has expired, or is needed now
        other_member, // this member cannot serve it now
        later,        // the store can serve it later
    };

    errc reason{};
    remedy helps{};
    // What the request has done. `possible_later`: it may still be executed.
    enum class effect : std::uint8_t { none, possible, possible_later };
    effect had{};
};

// `status` of gRPC, or -1: the call was broken off. `text`: as the server says it.
failure failure_of(int status, std::string_view text) noexcept;

// What a caller is told where no member can be used for this reason.
inline errc reason_or_unreachable(errc why) noexcept
{
    return why == errc{} || why == errc::no_reply ? errc::unreachable : why;
}

} // namespace holdfast::etcd_store
