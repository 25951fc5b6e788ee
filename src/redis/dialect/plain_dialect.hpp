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
        : dialect({key_prefix, key_prefix, queue_suffix, in_cluster}, std::move(channel))
    {}

    bool has_polling_clients() const noexcept override { return true; }

    bool acquires_by_script() const noexcept override { return false; }
    void begin_acquire(const claim& c, bool by_text, core::time_point now) override;
    std::string_view acquire_at(std::size_t node) override;
    std::string_view confirm(
        const claim& c, std::size_t node, bool by_text, core::time_point now) override;
    std::string_view enqueue(
        const claim& c, std::string_view place, bool by_text, core::time_point now) override;
    std::string_view renew(std::span<const claim* const> claims, bool by_text) override;

    ballot read_ballot(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now) override;
    place_answer read_place(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now) override;

private:
    std::string command_;
    std::string_view acquire_; // the same for all nodes
};

} // namespace holdfast::redis
