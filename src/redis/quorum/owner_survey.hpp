#pragma once

#include "redis/quorum/majority.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

// The owner of a key on each node: answers in, findings out. An owner is the hash of its token, or
// one of these.
class owner_survey {
public:
    static constexpr std::uint64_t nobody = 0;     // the key is free
    static constexpr std::uint64_t other_data = 1; // the key is no lock
    static std::uint64_t owner_of(std::string_view token) noexcept;

    owner_survey() = default;
    // Precondition: 1 <= nodes <= max_nodes.
    explicit owner_survey(std::size_t nodes) noexcept : nodes_(nodes) {}

    // Precondition: node < nodes.
    void record(std::size_t node, std::uint64_t owner) noexcept;
    // It has answered, but without an owner.
    void record_silence(std::size_t node) noexcept { answered_[node] = true; }

    enum class finding : std::uint8_t {
        open,      // no finding that helps
        conflict,  // so many nodes have other data that no majority is possible
        free,      // on a majority, whatever the queue node says
        elsewhere, // a majority has another owner than the queue node
    };
    // As soon as the answers allow; not before the queue node has answered. Precondition:
    // queue_node < nodes.
    finding judge(std::size_t queue_node) const noexcept;

    // Whether the node has said that the key is free there.
    bool is_free(std::size_t node) const noexcept
    {
        return known_[node] && owners_[node] == nobody;
    }
    // Whether the node has an owner that no majority has.
    bool is_minority(std::size_t node) const noexcept;
    std::uint64_t owner(std::size_t node) const noexcept { return owners_[node]; }

private:
    std::size_t count(std::uint64_t owner) const noexcept;
    // Whether so many nodes have this owner that they are a majority.
    bool has_majority(std::uint64_t owner) const noexcept
    {
        return count(owner) >= majority(nodes_);
    }

    std::array<std::uint64_t, max_nodes> owners_{};
    std::bitset<max_nodes> known_, answered_;
    std::size_t nodes_ = 0;
};

} // namespace holdfast::redis
