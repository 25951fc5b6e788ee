#pragma once

#include "core/time.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::redis {

// Resources that other processes are known to want: for these it pays to ask the queue node before
// the other nodes. These are hints: a forgotten or wrong one costs one round trip.
class contention_hints {
public:
    void note(std::uint64_t resource_hash, core::time_point now);
    // Its queue works: the resource was handed off there.
    void note_turn(std::uint64_t resource_hash, core::time_point now);
    bool knows_turns(std::uint64_t resource_hash, core::time_point now) const noexcept;
    // We had a majority without the queue node, whose queue may not work.
    void note_doubt(std::uint64_t resource_hash, core::time_point now);
    bool doubts(std::uint64_t resource_hash, core::time_point now) const noexcept;
    void forget(std::uint64_t resource_hash) noexcept;
    // The resource was free: it is forgotten, unless others have wanted it just before. They may be
    // about to come back.
    void note_free(std::uint64_t resource_hash, core::time_point now) noexcept;
    bool knows(std::uint64_t resource_hash, core::time_point now) const noexcept;

    // A turn led to no lease: other clients may have another queue node, and hand the resource off
    // among themselves. The next attempt, and only that one, joins all queues at once.
    void note_fruitless(std::uint64_t resource_hash, core::time_point now);
    bool take_fruitless(std::uint64_t resource_hash) noexcept;

private:
    enum class queue : std::uint8_t { unknown, works, doubtful };
    struct memory {
        std::optional<core::time_point> seen{};
        bool fruitless = false;
        queue state = queue::unknown;
    };
    const memory* recent(std::uint64_t resource_hash, core::time_point now) const noexcept;

    boost::unordered_flat_map<std::uint64_t, memory> known_;
};

} // namespace holdfast::redis
