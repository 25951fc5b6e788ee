#pragma once

#include "core/slot_map.hpp"

#include <holdfast/error.hpp>
#include <holdfast/release_outcome.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::core {

// What the locker core tells the I/O layer.
enum class effect_kind : std::uint8_t {
    acquired,   // the wait `tag` gets `lease`
    wait_ended, // the wait `tag` ends with `reason`; none: a single attempt found it held
    must_stop,  // the work under `lease` must stop
    gone,       // `lease` was released
    extended,   // all extensions of `lease` end with `reason`, or without one
    released,   // the release `tag` ends with `outcome`
    drained,    // nothing is held, and nothing will be
    closed,     // nothing is held, and all connections may be closed
};

struct effect {
    effect_kind kind{};
    release_outcome outcome{};
    errc reason{};
    std::uint64_t tag = 0;
    slot_id lease = 0;
    std::optional<std::uint64_t> fence{};
};

} // namespace holdfast::core
