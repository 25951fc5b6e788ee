#pragma once

#include "core/slot_map.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace holdfast::zookeeper_store {

// Which claims want to hear of changes of which nodes. The servers tell each change once.
class watched_nodes {
public:
    // The node before a claim.
    void watch(const std::string& path, core::slot_id claim) { by_path_.emplace(path, claim); }
    // The claim does not wait for it any more.
    void forget(const std::string& path, core::slot_id claim)
    {
        const auto [first, last] = by_path_.equal_range(path);
        const auto found =
            std::find_if(first, last, [claim](const auto& each) { return each.second == claim; });
        if (found != last)
            by_path_.erase(found);
    }
    // Returns the claims that watch it, and forgets them.
    std::vector<core::slot_id> take(const std::string& path)
    {
        std::vector<core::slot_id> claims;
        const auto [first, last] = by_path_.equal_range(path);
        for (auto each = first; each != last; ++each)
            claims.push_back(each->second);
        by_path_.erase(first, last);
        return claims;
    }

    // A holder wants to know of others in its queue.
    void report(core::slot_id claim) { reports_.insert(claim); }
    void end_report(core::slot_id claim) { reports_.erase(claim); }
    bool reports(core::slot_id claim) const { return reports_.contains(claim); }

    std::size_t count() const noexcept { return by_path_.size(); }

    // Watches end with the connection.
    void clear() noexcept
    {
        by_path_.clear();
        reports_.clear();
    }

private:
    std::unordered_multimap<std::string, core::slot_id> by_path_;
    std::unordered_set<core::slot_id> reports_;
};

} // namespace holdfast::zookeeper_store
