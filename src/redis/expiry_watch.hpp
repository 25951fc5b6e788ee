#pragma once

#include "core/backend.hpp"
#include "core/slot_map.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

// Finds out when a resource that another client holds may become free.
class expiry_watch {
public:
    expiry_watch(node_pool& nodes, dialect& d) noexcept : nodes_(nodes), dialect_(d) {}

    void watch(std::uint64_t tag, std::string_view resource, core::time_point now);
    // The answer of a majority, once there is one.
    std::optional<core::backend_event> on_reply(
        std::size_t node, const request& r, reply answer, core::time_point now);
    void lose_answer(core::slot_id watch);

private:
    // A question of the locker: when may a resource become free?
    struct question {
        std::uint64_t tag = 0;
        std::string lock; // the name of its key
        std::array<core::time_point, max_nodes> free_at{};
        std::uint8_t outstanding = 0, answers = 0, conflicts = 0;
    };

    node_pool& nodes_;
    dialect& dialect_;
    core::slot_map<question> questions_;
};

} // namespace holdfast::redis
