#pragma once

#include "redis/dialect/dialect.hpp"

namespace holdfast::redis {

// A lock is a key with the name of the resource, set with `SET key token NX PX ttl`, as other
// clients of Redlock do it.
class plain_dialect final : public dialect {
public:
    // `key_prefix`: of every key. `in_cluster`: all keys of a resource have one slot.
    explicit plain_dialect(
        std::string channel, std::string_view key_prefix = {}, bool in_cluster = false)
        : dialect(key_names(key_forms::plain(key_prefix), in_cluster), std::move(channel))
    {}

    bool has_polling_clients() const noexcept override { return true; }
};

} // namespace holdfast::redis
