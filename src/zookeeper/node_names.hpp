#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::zookeeper_store {

// The name of a resource as the name of a node. ZooKeeper wants UTF-8 without control characters,
// and keeps a few names for itself. So every byte but letters, digits and `._:-` becomes `%XX`,
// and so does the first byte of names that are kept.
std::string escaped(std::string_view resource);
// None if no resource has this name.
std::optional<std::string> unescaped(std::string_view name);

// The beginning of the name of a lock's node: `_c_<token>-lock-`, as Curator's protected mode has
// it. The server adds the place in the queue. `tries`: names that were used before for this token.
// `waits`: a node without this is deleted unless it is the first at once, and its name says so.
std::string lock_prefix(std::string_view token, unsigned tries, bool waits);
// Whether a node of this library does not wait in its queue.
bool never_waits(std::string_view name) noexcept;
// The token in the name of a node of this library; other text of others.
std::string_view token_in(std::string_view name) noexcept;

// The place of a node in its queue, from the end of its name: ten digits, or a sign and at least
// nine. None if it is no lock.
std::optional<std::int32_t> sequence_of(std::string_view name) noexcept;
// Whether the first place is before the second one. Negative places come last, see below.
constexpr bool is_before(std::int32_t first, std::int32_t second) noexcept
{
    return static_cast<std::uint32_t>(first) < static_cast<std::uint32_t>(second);
}
// Whether places like this one tell an order. At its end the counter of a folder stays at
// INT32_MAX: servers give this number again and again, and negative ones in between.
constexpr bool tells_order(std::int32_t place) noexcept
{
    return place >= 0 && place != INT32_MAX;
}

// The paths of nodes.
class node_paths {
public:
    // `root`: without a slash at the end.
    explicit node_paths(std::string root) : root_(std::move(root)) {}

    // The folders that lead to the locks, the outermost first; none for the root of the servers.
    std::vector<std::string> folders() const;
    std::string root() const { return root_.empty() ? "/" : root_; }
    // The folder of a resource.
    std::string queue_of(std::string_view resource) const
    {
        return root_ + '/' + escaped(resource);
    }
    // The node that proves that a session lives.
    std::string proof_of(std::int64_t session) const;
    static bool is_proof(std::string_view name) noexcept { return name.starts_with(proof_prefix); }

    static constexpr std::string_view proof_prefix = "_s_";

private:
    const std::string root_;
};

} // namespace holdfast::zookeeper_store
