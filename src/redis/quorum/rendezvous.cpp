#include "redis/quorum/rendezvous.hpp"

namespace holdfast::redis {

namespace {

std::uint64_t mixed(std::uint64_t bits) noexcept
{
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

} // namespace

std::uint64_t hash_of(std::string_view name) noexcept
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return mixed(hash);
}

std::uint64_t queue_node_rank(std::uint64_t resource_hash, std::uint64_t node_hash) noexcept
{
    return mixed(resource_hash ^ node_hash);
}

} // namespace holdfast::redis
