#pragma once

#include "core/time.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::redis {

// Resources that others are known to want: there it pays to ask the queue_node before the other
// nodes. A hint: what is forgotten, or known wrongly, costs one round trip.
class contention_hints {
public:
    void note(std::uint64_t resource_hash, core::time_point now);
    // Its queue was seen to work: the resource was handed over there.
    void note_turn(std::uint64_t resource_hash, core::time_point now);
    bool knows_turns(std::uint64_t resource_hash, core::time_point now) const noexcept;
    // We had a majority without the queue_node, whose queue may not work.
    void note_doubt(std::uint64_t resource_hash, core::time_point now);
    bool doubts(std::uint64_t resource_hash, core::time_point now) const noexcept;
    void forget(std::uint64_t resource_hash) noexcept;
    bool knows(std::uint64_t resource_hash, core::time_point now) const noexcept;

    // A turn came to nothing: others may have another queue_node, and pass the resource on among
    // themselves. The next attempt, and only that, is to stand in all queues at once.
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
