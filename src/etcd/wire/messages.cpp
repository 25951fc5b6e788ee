#include "etcd/wire/messages.hpp"

#include "etcd/wire/protobuf.hpp"

#include <algorithm>
#include <utility>

// The numbers of fields are those of etcd's rpc.proto and kv.proto.
namespace holdfast::etcd_store::wire {

namespace {

constexpr std::uint64_t ascending = 1, by_creation = 2;     // of a list
constexpr std::uint64_t equal = 0, creation = 1;            // of a comparison
constexpr std::int64_t longest_ttl_seconds = 1'000'000'000; // in nanoseconds, it fits
constexpr std::string_view no_puts{"\0", 1};      // a list of filters with NOPUT, which is 0
constexpr std::string_view no_deletions{"\1", 1}; // the same with NODELETE, which is 1

std::uint64_t bits(std::int64_t value) noexcept
{
    return static_cast<std::uint64_t>(value);
}

bool read_header(std::string_view encoded, reply_header& to)
{
    proto_reader r(encoded);
    while (r.next()) {
        if (r.field() == 1)
            to.cluster = r.number();
        else if (r.field() == 3)
            to.revision = r.integer();
    }
    return r.good();
}

bool read_key(std::string_view encoded, listed_key& to, std::int64_t& modified)
{
    proto_reader r(encoded);
    while (r.next()) {
        if (r.field() == 1)
            to.name = r.bytes();
        else if (r.field() == 2)
            to.created = r.integer();
        else if (r.field() == 3)
            modified = r.integer();
        else if (r.field() == 5)
            to.value = r.bytes();
        else if (r.field() == 6)
            to.lease = r.integer();
    }
    return r.good();
}

// A RangeResponse.
bool read_keys(std::string_view encoded, reply_header& header, answer& to)
{
    std::int64_t modified = 0;
    bool good = true;
    proto_reader r(encoded);
    while (good && r.next()) {
        if (r.field() == 1)
            good = read_header(r.bytes(), header);
        else if (r.field() == 2)
            good = read_key(r.bytes(), to.keys.emplace_back(), modified);
        else if (r.field() == 3)
            to.more = r.number() != 0;
    }
    return good && r.good();
}

// A DeleteRangeResponse.
bool read_deleted(std::string_view encoded, reply_header& header, answer& to)
{
    bool good = true;
    proto_reader r(encoded);
    while (good && r.next()) {
        if (r.field() == 1)
            good = read_header(r.bytes(), header);
        else if (r.field() == 2)
            to.deleted = r.integer();
    }
    return good && r.good();
}

// A ResponseOp.
bool read_answer(std::string_view encoded, answer& to)
{
    reply_header unused;
    bool good = true;
    proto_reader r(encoded);
    while (good && r.next()) {
        if (r.field() == 1)
            good = read_keys(r.bytes(), unused, to);
        else if (r.field() == 3)
            good = read_deleted(r.bytes(), unused, to);
    }
    return good && r.good();
}

bool read_event(std::string_view encoded, watch_reply& to)
{
    bool deleted = false, good = true;
    listed_key key;
    std::int64_t modified = 0;
    proto_reader r(encoded);
    while (good && r.next()) {
        if (r.field() == 1)
            deleted = r.number() == 1;
        else if (r.field() == 2)
            good = read_key(r.bytes(), key, modified);
    }
    if (good && deleted)
        to.deletions.push_back({std::move(key.name), modified});
    else if (good)
        to.puts.push_back(std::move(key.name));
    return good && r.good();
}

} // namespace

key_range keys_with(std::string prefix)
{
    std::string end = prefix;
    end.back() = static_cast<char>(end.back() + 1);
    return {std::move(prefix), std::move(end)};
}

std::string authenticate(std::string_view user, std::string_view password)
{
    proto_writer w;
    w.text(1, user);
    w.text(2, password);
    return w.encoded();
}

std::string lease_grant(std::int64_t ttl_seconds)
{
    proto_writer w;
    w.number(1, bits(ttl_seconds));
    return w.encoded();
}

std::string lease_revoke(std::int64_t lease)
{
    proto_writer w;
    w.number(1, bits(lease));
    return w.encoded();
}

std::string keep_alive(std::int64_t lease)
{
    return lease_revoke(lease); // has the same field
}

std::string list_keys(const key_range& keys, std::int64_t limit)
{
    proto_writer w;
    w.text(1, keys.first);
    w.text(2, keys.end);
    w.number(3, bits(limit));
    w.number(5, ascending);
    w.number(6, by_creation);
    w.number(8, 1); // without values
    return w.encoded();
}

std::string list_values(const key_range& keys, std::int64_t limit, bool oldest_first)
{
    proto_writer w;
    w.text(1, keys.first);
    w.text(2, keys.end);
    w.number(3, bits(limit));
    if (oldest_first) {
        w.number(5, ascending);
        w.number(6, by_creation);
    }
    return w.encoded();
}

std::string lease_time(std::int64_t lease)
{
    return lease_revoke(lease); // has the same field
}

std::string delete_key(std::string_view key)
{
    proto_writer w;
    w.text(1, key);
    return w.encoded();
}

namespace {

std::string watch_request(
    const key_range& keys, std::int64_t start, std::int64_t watch, std::string_view filters)
{
    proto_writer create;
    create.text(1, keys.first);
    create.text(2, keys.end);
    create.number(3, bits(start));
    create.message(5, filters);
    create.number(7, bits(watch));
    proto_writer w;
    w.message(1, create.encoded());
    return w.encoded();
}

} // namespace

std::string watch_deletions(const key_range& keys, std::int64_t start, std::int64_t watch)
{
    return watch_request(keys, start, watch, no_puts);
}

std::string watch_puts(const key_range& keys, std::int64_t start, std::int64_t watch)
{
    return watch_request(keys, start, watch, no_deletions);
}

std::string cancel_watch(std::int64_t watch)
{
    proto_writer cancel;
    cancel.number(1, bits(watch));
    proto_writer w;
    w.message(2, cancel.encoded());
    return w.encoded();
}

void transaction::if_none(const key_range& keys)
{
    proto_writer compare;
    compare.number(1, equal);
    compare.number(2, creation);
    compare.text(3, keys.first);
    compare.explicit_number(5, 0); // never created
    compare.text(64, keys.end);
    proto_writer w;
    w.message(1, compare.encoded());
    conditions_ += w.encoded();
}

void transaction::put(
    branch where, std::string_view key, std::string_view value, std::int64_t lease)
{
    proto_writer put, operation, w;
    put.text(1, key);
    put.text(2, value);
    put.number(3, bits(lease));
    operation.message(2, put.encoded());
    w.message(where == branch::none_exist ? 2 : 3, operation.encoded());
    operations(where) += w.encoded();
}

void transaction::remove(branch where, std::string_view key)
{
    proto_writer operation, w;
    operation.message(3, delete_key(key));
    w.message(where == branch::none_exist ? 2 : 3, operation.encoded());
    operations(where) += w.encoded();
}

void transaction::list(branch where, const key_range& keys, std::int64_t limit)
{
    proto_writer operation, w;
    operation.message(1, list_keys(keys, limit));
    w.message(where == branch::none_exist ? 2 : 3, operation.encoded());
    operations(where) += w.encoded();
}

std::string transaction::encoded() const
{
    return conditions_ + none_exist_ + otherwise_;
}

std::optional<std::string> read_auth_token(std::string_view encoded)
{
    std::string token;
    proto_reader r(encoded);
    while (r.next()) {
        if (r.field() == 2)
            token = r.bytes();
    }
    if (!r.good() || token.empty())
        return std::nullopt;
    return token;
}

std::optional<lease_reply> read_lease(std::string_view encoded)
{
    lease_reply lease;
    proto_reader r(encoded);
    while (r.next()) {
        if (r.field() == 2)
            lease.id = r.integer();
        else if (r.field() == 3)
            lease.ttl_seconds = std::min(r.integer(), longest_ttl_seconds);
    }
    if (!r.good())
        return std::nullopt;
    return lease;
}

std::optional<list_reply> read_list(std::string_view encoded)
{
    list_reply list;
    if (!read_keys(encoded, list.header, list.found))
        return std::nullopt;
    return list;
}

std::optional<list_reply> read_removal(std::string_view encoded)
{
    list_reply removal;
    if (!read_deleted(encoded, removal.header, removal.found))
        return std::nullopt;
    return removal;
}

std::optional<txn_reply> read_txn(std::string_view encoded)
{
    txn_reply txn;
    bool good = true;
    proto_reader r(encoded);
    while (good && r.next()) {
        if (r.field() == 1)
            good = read_header(r.bytes(), txn.header);
        else if (r.field() == 2)
            txn.none_existed = r.number() != 0;
        else if (r.field() == 3)
            good = read_answer(r.bytes(), txn.answers.emplace_back());
    }
    if (!good || !r.good())
        return std::nullopt;
    return txn;
}

std::optional<watch_reply> read_watch(std::string_view encoded)
{
    watch_reply reply;
    bool good = true;
    proto_reader r(encoded);
    while (good && r.next()) {
        switch (r.field()) {
        case 2:
            reply.watch = r.integer();
            break;
        case 3:
            reply.created = r.number() != 0;
            break;
        case 4:
            reply.canceled = r.number() != 0;
            break;
        case 5:
            reply.compacted = r.integer();
            break;
        case 6:
            reply.reason = r.bytes();
            break;
        case 11:
            good = read_event(r.bytes(), reply);
            break;
        default:
            break;
        }
    }
    if (!good || !r.good())
        return std::nullopt;
    return reply;
}

} // namespace holdfast::etcd_store::wire
