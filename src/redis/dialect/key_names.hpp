#pragma once

#include "redis/node/hash_slot.hpp"
#include "redis/node/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {

// The names of the keys of a resource: of its lock, of its queue, and of a window. A name stays
// valid until the next one of its kind.
class key_names {
public:
    // `in_cluster`: the keys of a resource have the same slot.
    key_names(std::string_view lock_prefix, std::string_view queue_prefix, std::string_view suffix,
        bool in_cluster = false)
        : lock_prefix_(lock_prefix),
          queue_prefix_(queue_prefix),
          queue_suffix_(suffix),
          in_cluster_(in_cluster)
    {}

    std::string_view lock_of(std::string_view resource)
    {
        if (lock_prefix_.empty())
            return resource;
        return lock_.assign(lock_prefix_).append(resource);
    }

    // `lock`: a result of lock_of().
    std::string_view queue_of(std::string_view lock)
    {
        if (in_cluster_)
            return beside(lock, queue_suffix_, queue_);
        lock.remove_prefix(lock_prefix_.size());
        queue_.clear();
        if (!queue_prefix_.empty())
            queue_.append(queue_prefix_);
        return queue_.append(lock).append(queue_suffix_);
    }

    std::string_view window_of(std::string_view lock)
    {
        if (in_cluster_)
            return beside(lock, window_suffix, window_);
        return window_.assign(lock).append(window_suffix);
    }

private:
    // A key in the slot of the lock. A lock with a hash tag keeps its tag. Any other name, as the
    // whole of it decides the slot, becomes the tag; or a number that has this slot, if the name
    // has a brace that would end a tag. The prefix stays in front: rights depend on it.
    std::string_view beside(std::string_view lock, std::string_view suffix, std::string& out) const
    {
        out.clear();
        if (hashed_part(lock).size() != lock.size())
            return out.append(lock).append(suffix);
        const bool fits = lock.find('}') == lock.npos;
        out.append(lock_prefix_).append("{");
        out.append(fits ? std::string(lock) : tag_of_slot(slot_of(lock)));
        out.append("}").append(suffix).append(":"); // no lock with a tag has such a key
        return fits ? out : out.append(lock);
    }

    std::string lock_prefix_, queue_prefix_, queue_suffix_;
    bool in_cluster_ = false;
    std::string lock_, queue_, window_;
};

} // namespace holdfast::redis
