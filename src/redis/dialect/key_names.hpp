#pragma once

#include "redis/node/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::redis {

// The names of the keys of a resource: of its lock, of its queue, and of a window. A name stays
// valid until the next one of its kind.
class key_names {
public:
    // The prefixes and the suffix live as long as this object.
    key_names(std::string_view lock_prefix, std::string_view queue_prefix,
        std::string_view suffix) noexcept
        : lock_prefix_(lock_prefix),
          queue_prefix_(queue_prefix),
          queue_suffix_(suffix)
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
        lock.remove_prefix(lock_prefix_.size());
        queue_.clear();
        if (!queue_prefix_.empty())
            queue_.append(queue_prefix_);
        return queue_.append(lock).append(queue_suffix_);
    }

    std::string_view window_of(std::string_view lock)
    {
        return window_.assign(lock).append(window_suffix);
    }

private:
    std::string_view lock_prefix_, queue_prefix_, queue_suffix_;
    std::string lock_, queue_, window_;
};

} // namespace holdfast::redis
