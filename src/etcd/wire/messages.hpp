#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The messages of etcd's API, version 3, that a store of locks needs. Fields that are not needed
// are skipped, so other versions of the server can be read.
namespace holdfast::etcd_store::wire {

// The paths of the calls.
inline constexpr std::string_view authenticate_path = "/etcdserverpb.Auth/Authenticate";
inline constexpr std::string_view range_path = "/etcdserverpb.KV/Range";
inline constexpr std::string_view txn_path = "/etcdserverpb.KV/Txn";
inline constexpr std::string_view delete_path = "/etcdserverpb.KV/DeleteRange";
inline constexpr std::string_view lease_grant_path = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr std::string_view lease_revoke_path = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr std::string_view lease_time_path = "/etcdserverpb.Lease/LeaseTimeToLive";
inline constexpr std::string_view keep_alive_path = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr std::string_view watch_path = "/etcdserverpb.Watch/Watch";

// The keys from `first` to `end`, without `end`. An empty `end`: the key `first` alone.
struct key_range {
    std::string first, end;
};
// All keys that begin with `prefix`. Precondition: its last byte is not 0xff.
key_range keys_with(std::string prefix);

std::string authenticate(std::string_view user, std::string_view password);
std::string lease_grant(std::int64_t ttl_seconds);
std::string lease_revoke(std::int64_t lease);
std::string keep_alive(std::int64_t lease);
// Without values, the oldest keys first. `limit` 0: all.
std::string list_keys(const key_range& keys, std::int64_t limit);
// With values, the oldest keys first, or by name.
std::string list_values(const key_range& keys, std::int64_t limit, bool oldest_first);
// How long a lease lasts.
std::string lease_time(std::int64_t lease);
std::string delete_key(std::string_view key);
// Deletions only, from `start` on.
std::string watch_deletions(const key_range& keys, std::int64_t start, std::int64_t watch);
std::string watch_puts(const key_range& keys, std::int64_t start, std::int64_t watch);
std::string cancel_watch(std::int64_t watch);

// A transaction: if no key of the given ranges exists, the first list of operations, else the
// second one.
class transaction {
public:
    enum class branch : std::uint8_t { none_exist, otherwise };

    void if_none(const key_range& keys);
    void put(branch where, std::string_view key, std::string_view value, std::int64_t lease);
    void remove(branch where, std::string_view key);
    void list(branch where, const key_range& keys, std::int64_t limit);

    std::string encoded() const;

private:
    std::string& operations(branch where)
    {
        return where == branch::none_exist ? none_exist_ : otherwise_;
    }

    std::string conditions_, none_exist_, otherwise_; // encoded fields
};

struct listed_key {
    std::string name;
    std::int64_t created = 0; // the revision
    std::int64_t lease = 0;   // 0: under none
    std::string value{};      // only of a list with values
};

// The answer to one operation; the one of a put has nothing.
struct answer {
    std::vector<listed_key> keys; // of a list
    bool more = false;            // the list was cut at its limit
    std::int64_t deleted = 0;     // how many keys a removal has deleted
};

struct reply_header {
    std::uint64_t cluster = 0;
    std::int64_t revision = 0;
};

struct txn_reply {
    reply_header header;
    bool none_existed = false; // the first branch was executed
    std::vector<answer> answers;
};

struct list_reply {
    reply_header header;
    answer found;
};

struct lease_reply {
    std::int64_t id = 0;
    std::int64_t ttl_seconds = 0; // at most 10^9, whatever the server says
};

struct deletion {
    std::string key;
    std::int64_t revision = 0;
};

struct watch_reply {
    std::int64_t watch = 0;
    bool created = false, canceled = false;
    std::int64_t compacted = 0; // the oldest revision that can be watched; 0: not told
    std::string reason;         // of `canceled`
    std::vector<deletion> deletions;
    std::vector<std::string> puts; // of these keys
};

// None if the bytes are no such message.
std::optional<std::string> read_auth_token(std::string_view encoded);
// Of a grant, kept alive, or its time: then the ttl is what is left.
std::optional<lease_reply> read_lease(std::string_view encoded);
std::optional<list_reply> read_list(std::string_view encoded);
std::optional<list_reply> read_removal(std::string_view encoded);
std::optional<txn_reply> read_txn(std::string_view encoded);
std::optional<watch_reply> read_watch(std::string_view encoded);

} // namespace holdfast::etcd_store::wire
