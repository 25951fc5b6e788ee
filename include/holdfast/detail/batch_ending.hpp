#pragma once

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::detail {

// How the body of a batch has ended, and its lease.
struct batch_ending {
    enum class kind : std::uint8_t {
        returned,
        aborted,       // with the error code `operation_aborted`
        error,         // with another error code
        other_failure, // with an exception that has no code
    };
    kind body = kind::returned;
    error_code why{};                     // of `error`
    std::optional<std::size_t> replies{}; // how many were given; empty: there are none to give
    bool stopped = false;                 // the body was told that the lease is lost
    bool lease_over = false;              // by the clock: a body that blocks cannot be told
};

} // namespace holdfast::detail
