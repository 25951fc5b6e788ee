#include "redis/quorum/owner_survey.hpp"

#include "redis/quorum/rendezvous.hpp"

#include <algorithm>

namespace holdfast::redis {

std::uint64_t owner_survey::owner_of(std::string_view token) noexcept
{
    return std::max(hash_of(token), other_data + 1);
}

void owner_survey::record(std::size_t node, std::uint64_t owner) noexcept
{
    owners_[node] = owner;
    known_[node] = answered_[node] = true;
}

std::size_t owner_survey::count(std::uint64_t owner) const noexcept
{
    std::size_t n = 0;
    for (std::size_t i = 0; i < nodes_; ++i)
        n += known_[i] && owners_[i] == owner ? 1u : 0u;
    return n;
}

owner_survey::finding owner_survey::judge(std::size_t queue_node) const noexcept
{
    if (count(other_data) >= blocking(nodes_))
        return finding::conflict;
    if (!answered_[queue_node])
        return finding::open;
    if (has_majority(nobody))
        return finding::free;
    if (!is_minority(queue_node))
        return finding::open;
    for (std::size_t i = 0; i < nodes_; ++i) {
        if (known_[i] && has_majority(owners_[i]))
            return finding::elsewhere;
    }
    return finding::open;
}

bool owner_survey::is_minority(std::size_t node) const noexcept
{
    return known_[node] && owners_[node] != nobody && !has_majority(owners_[node]);
}

} // namespace holdfast::redis
