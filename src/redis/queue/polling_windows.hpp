#pragma once

#include "core/backend.hpp"
#include "core/time.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <optional>

namespace holdfast::redis {

// When a resource that is handed from client to client in the queue is to be left to polling
// clients for a while, as far as this process knows. Other processes may have opened a window
// since: the queue node knows. See scripts.hpp.
//
// A forgotten or wrong entry costs one command, or one window too many or too late.
class polling_windows {
public:
    // Clients wait for it in the queue.
    void note_contention(std::uint64_t resource_hash, core::time_point now);
    // It was free, or had no waiters when we released it.
    void note_free(std::uint64_t resource_hash) noexcept;

    // Whether to ask for a window when we release it now. `by_turns`: the waiters of this
    // process have transferred it among themselves for a whole period.
    bool is_due(std::uint64_t resource_hash, const core::polling_params& terms, bool by_turns,
        core::time_point now) const noexcept;

    // The answer of the queue node to that request.
    void opened(
        std::uint64_t resource_hash, const core::polling_params& terms, core::time_point now);
    void refused(
        std::uint64_t resource_hash, const core::polling_params& terms, core::time_point now);

private:
    struct memory {
        std::optional<core::time_point> contended_since{};
        core::time_point contended_last{};
        bool was_free = false; // since then
        core::time_point ask_at = core::long_ago;
    };
    memory& at(std::uint64_t resource_hash, core::time_point now);

    boost::unordered_flat_map<std::uint64_t, memory> known_;
};

} // namespace holdfast::redis
