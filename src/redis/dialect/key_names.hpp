#pragma once

#include "redis/node/hash_slot.hpp"
#include "redis/node/scripts.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

// What stands before and behind the name of a resource in the names of its keys.
struct key_forms {
    std::string lock_prefix{}, queue_prefix{}, queue_suffix{}, window_prefix{}, window_suffix{};

    // Of plain mode, with this beginning of each name.
    static key_forms plain(std::string_view prefix = {})
    {
        const std::string p(prefix);
        return {.lock_prefix = p,
            .queue_prefix = p,
            .queue_suffix = std::string(redis::queue_suffix),
            .window_prefix = p,
            .window_suffix = std::string(redis::window_suffix)};
    }
};

// The names of the keys of a resource: of its lock, of its queue, and of a window. A name stays
// valid until the next one of its kind.
class key_names {
public:
    // `in_cluster`: the keys of a resource have the same slot.
    explicit key_names(key_forms forms, bool in_cluster = false)
        : forms_(std::move(forms)),
          in_cluster_(in_cluster)
    {}

    std::string_view lock_of(std::string_view resource)
    {
        if (forms_.lock_prefix.empty())
            return resource;
        return lock_.assign(forms_.lock_prefix).append(resource);
    }

    // `lock`: a result of lock_of().
    std::string_view queue_of(std::string_view lock)
    {
        return name(lock, forms_.queue_prefix, forms_.queue_suffix, queue_);
    }
    std::string_view window_of(std::string_view lock)
    {
        return name(lock, forms_.window_prefix, forms_.window_suffix, window_);
    }

private:
    std::string_view name(std::string_view lock, std::string_view prefix, std::string_view suffix,
        std::string& out) const
    {
        if (in_cluster_)
            return beside(lock, suffix, out);
        lock.remove_prefix(forms_.lock_prefix.size());
        return out.assign(prefix).append(lock).append(suffix);
    }

    // A key in the slot of the lock. A lock with a hash tag keeps its tag. Any other name, as the
    // whole of it decides the slot, becomes the tag; or a number that has this slot, if the name
    // has a brace that would end a tag. The prefix stays in front: rights depend on it.
    std::string_view beside(std::string_view lock, std::string_view suffix, std::string& out) const
    {
        out.clear();
        if (hashed_part(lock).size() != lock.size())
            return out.append(lock).append(suffix);
        const bool fits = lock.find('}') == lock.npos;
        out.append(forms_.lock_prefix).append("{");
        out.append(fits ? std::string(lock) : tag_of_slot(slot_of(lock)));
        out.append("}").append(suffix).append(":"); // no lock with a tag has such a key
        return fits ? out : out.append(lock);
    }

    const key_forms forms_;
    const bool in_cluster_ = false;
    std::string lock_, queue_, window_;
};

} // namespace holdfast::redis
