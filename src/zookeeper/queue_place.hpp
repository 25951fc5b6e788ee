#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper_store {

// The place of a node in the queue of its resource: which nodes are before it. All nodes whose
// names end in a number of the server are in the queue, also those of other clients.
class queue_place {
public:
    enum class state : std::uint8_t {
        absent, // the node is not in the queue
        waits,  // others are before it
        first,  // it holds the resource
    };

    // For a node that does not exist yet.
    void reset(std::string queue);

    // The path of the folder.
    const std::string& queue() const noexcept { return queue_; }
    // The name; empty: unknown.
    const std::string& node() const noexcept { return node_; }
    std::string path() const { return queue_ + '/' + node_; }
    // The transaction that has created it.
    std::int64_t created() const noexcept { return created_; }
    // False if `path` is no node of the queue.
    bool created_as(std::string_view path, std::int64_t transaction);

    // False at the end of the folder's counter. Such a node is behind all others, and never the
    // first. Precondition: the node is known.
    bool has_order() const noexcept;
    // All nodes of the folder. Precondition: the node is known, and has an order.
    void listed(const std::vector<std::string>& names);
    state where() const noexcept { return state_; }
    // The node directly before it. Precondition: it waits.
    const std::string& before() const noexcept { return before_; }
    std::string path_before() const { return queue_ + '/' + before_; }
    // The node directly before it is gone. True if it was the first: none can come in between.
    bool before_is_gone() noexcept;

    // How many other nodes there were that wait, or may wait.
    std::size_t others() const noexcept { return others_; }

private:
    std::string queue_, node_, before_;
    std::int32_t sequence_ = 0;
    std::int64_t created_ = 0;
    std::size_t count_before_ = 0, others_ = 0;
    state state_ = state::absent;
};

} // namespace holdfast::zookeeper_store
