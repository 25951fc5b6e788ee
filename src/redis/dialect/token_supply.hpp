#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::redis {

// How many tokens of a resource are taken, and from which token on, so that its most frequent users
// do not get ahead of the clocks. Remembers for the resources used last the largest token that was
// published here, and the largest that a node has stored for us. An attempt without success takes
// tokens too: if many of these took large blocks, nodes would soon have none left to grant.
class token_supply {
public:
    // Tokens up to `last` are ours. `resource`: the hash of its name.
    void published(std::uint64_t resource, std::uint64_t last) noexcept;

    // A node's counter has reached `last`.
    void stored(std::uint64_t resource, std::uint64_t last) noexcept;

    // The least token that is wanted next. `clock`: see fence_clock::floor().
    std::uint64_t floor(std::uint64_t resource, std::int64_t clock) const noexcept;

    // How many tokens to reserve: many if other waiters in this process will follow, otherwise
    // some, and fewer the further the tokens taken are ahead of `clock`.
    std::uint64_t block(
        std::uint64_t resource, std::int64_t clock, bool others_follow) const noexcept;

private:
    struct entry {
        std::uint64_t resource = 0, published = 0, stored = 0; // stored: at least as published
    };
    static constexpr std::size_t size = 1024;

    entry known_of(std::uint64_t resource) const noexcept;
    void note(const entry& now_known) noexcept;

    // Of resources that share an entry, the one that is ahead has it. The floor of the others is
    // their clock.
    std::array<entry, size> entries_{};
};

} // namespace holdfast::redis
