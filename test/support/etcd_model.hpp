#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A model of an etcd cluster's data: keys, leases and revisions, in the answers of the real API.
/// Pure: time comes with the calls.
class etcd_model {
public:
    struct key {
        std::string value;
        std::int64_t created = 0, modified = 0, lease = 0;
    };
    struct change {
        std::string key;
        std::int64_t revision = 0;
        bool deleted = false;
    };
    struct result {
        int status = 0;
        std::string text; ///< the message, or the reason
    };

    /// Executes a request of one answer.
    result call(std::string_view path, std::string_view message, core::time_point now);
    /// The answer to a request to keep a lease alive.
    std::string keep_alive(std::string_view message, core::time_point now);
    /// Ends leases whose time is over.
    void pass_to(core::time_point now);
    /// As a new leader does: all leases have their whole time again, and a little more.
    void extend_leases(core::time_point now, core::duration more);
    /// Watches cannot begin before this revision any more.
    void compact(std::int64_t revision) noexcept { compacted_ = std::max(compacted_, revision); }
    std::int64_t compacted() const noexcept { return compacted_; }

    const std::map<std::string, key>& keys() const noexcept { return keys_; }
    std::size_t leases() const noexcept { return leases_.size(); }
    std::int64_t revision() const noexcept { return revision_; }
    /// All changes since the beginning.
    const std::vector<change>& changes() const noexcept { return changes_; }

    /// Begins each answer.
    std::string header() const;

    /// As if a person did it. A key that is there keeps its lease.
    void put(const std::string& name);
    void remove(std::string name);
    void revoke_all();
    /// As if the data was restored from a backup.
    void go_back(std::int64_t revision) noexcept { revision_ = revision; }
    std::uint64_t cluster = 77;
    std::int64_t shortest_ttl = 2; ///< in seconds

private:
    struct lease {
        std::int64_t seconds = 0;
        core::time_point ends{};
    };

    void revoke(std::int64_t id);
    std::string range(std::string_view request) const;
    result put_request(std::string_view request);
    std::string delete_request(std::string_view request);
    bool holds(std::string_view compare) const;
    result txn(std::string_view request);
    std::vector<std::string> in_range(const std::string& first, const std::string& end) const;

    std::map<std::string, key> keys_;
    std::map<std::int64_t, lease> leases_;
    std::vector<change> changes_;
    std::int64_t revision_ = 1, compacted_ = 0, last_lease_ = 1000;
};

} // namespace holdfast::test
