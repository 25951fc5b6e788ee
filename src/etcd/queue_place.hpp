#pragma once

#include "etcd/wire/messages.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::etcd_store {

// The place of a key in the queue of its resource: the keys that were created before it. All keys
// `<resource>/<anything>` without a further slash are in the queue, also those of other clients.
class queue_place {
public:
    enum class state : std::uint8_t {
        absent,  // the key is not in the queue
        waits,   // others are before it
        unclear, // all that were known are gone, but there may be others: a new list is needed
        first,   // it holds the resource
    };

    // Forgets what it knows, for another key. `queue` ends in a slash; `key` begins with it.
    void reset(std::string queue, std::string key);

    const std::string& queue() const noexcept { return queue_; }
    const std::string& key() const noexcept { return key_; }
    wire::key_range keys() const { return wire::keys_with(queue_); }
    bool is_in_queue(std::string_view key) const noexcept;
    // How many keys to ask for; 0: all.
    std::int64_t limit() const noexcept { return limit_; }

    // The revision at which the key was created; 0: unknown. Precondition of settle(), unless the
    // list has the key.
    std::int64_t created() const noexcept { return created_; }
    void created_at(std::int64_t revision) noexcept { created_ = revision; }

    // A list, the oldest keys first.
    void listed(const wire::answer& list);
    // Whether the list had other keys of the queue.
    bool has_others() const noexcept { return !before_.empty(); }
    // True if the key itself was deleted.
    bool deleted(const wire::deletion& what);
    state where() const noexcept;

private:
    // More are asked for only if so many wait.
    static constexpr std::int64_t first_limit = 128;

    std::string queue_, key_;
    std::int64_t created_ = 0, limit_ = first_limit;
    std::vector<wire::listed_key> before_;
    bool cut_off_ = false; // the list was too short to tell
    bool present_ = false;
};

} // namespace holdfast::etcd_store
