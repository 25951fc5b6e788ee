#pragma once

#include "redis/claim/claim.hpp"
#include "redis/dialect/common_calls.hpp"
#include "redis/dialect/key_names.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/request.hpp"
#include "redis/pool/node_pool.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

// The answer of a node, or its absence, to a request that may make its key ours.
struct ballot {
    vote said = vote::unknown;
    errc why{};              // why it has neither granted nor refused, if known
    std::uint64_t start = 0; // in fenced mode, of the block of tokens that it has granted
};

// The answer of a queue node to a request for a place in the queue.
struct place_answer {
    enum class meaning : std::uint8_t {
        granted, // the key is ours: `start`
        waits,   // we are in the queue; the key is free in `left` ms, -1: at an unknown time
        window,  // the key is left to clients that poll for `left` ms
        refused, // an error
        broken,  // not an answer to this request
    };
    meaning said = meaning::broken;
    std::uint64_t start = 0;
    std::int64_t left = 0;
};

// The differences between plain and fenced mode: how a request is encoded, and how its reply is
// read. An encoded request stays valid until the next call that encodes or reads.
class dialect {
public:
    virtual ~dialect() = default;

    key_names& names() noexcept { return names_; }
    // The requests that are the same in both modes.
    common_calls& common() noexcept { return common_; }

    // No claim may have a longer ttl.
    virtual core::duration longest_ttl() const noexcept { return core::duration::max(); }
    // Whether polling clients may want what we lock.
    virtual bool has_polling_clients() const noexcept = 0;

    // A claim begins. token_of(): it has been granted, and gets its token if there is one.
    virtual void begin(claim&, core::time_point) {}
    virtual std::optional<std::uint64_t> token_of(const claim&) { return std::nullopt; }

    // A node has become reachable; it has become unreachable; it has answered one of the dialect's
    // own requests.
    virtual void on_ready(std::size_t, core::time_point) {}
    virtual void on_down(std::size_t) noexcept {}
    virtual void on_reply(std::size_t, const request&, reply, core::time_point) {}

    // `acquire` to several nodes: first the part that is the same for all, then the whole for each.
    // Whether `acquire` calls a script, which a node may have forgotten.
    virtual bool acquires_by_script() const noexcept = 0;
    virtual void begin_acquire(const claim& c, bool by_text, core::time_point now) = 0;
    virtual std::string_view acquire_at(std::size_t node) = 0;
    virtual std::string_view confirm(
        const claim& c, std::size_t node, bool by_text, core::time_point now) = 0;
    virtual std::string_view enqueue(
        const claim& c, std::string_view place, bool by_text, core::time_point now) = 0;
    virtual std::string_view renew(std::span<const claim* const> claims, bool by_text) = 0;
    // Precondition: fenced mode.
    virtual std::string_view write_back(const claim&, const token_round::write_back&, bool)
    {
        return {};
    }

    // The answer to `acquire` or `confirm`; to `enqueue`; to `write_back`. `c`: the claim that
    // asked, if it still exists.
    virtual ballot read_ballot(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now) = 0;
    virtual place_answer read_place(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now) = 0;
    virtual write_back_answer read_write_back(std::size_t, reply, claim&)
    {
        return write_back_answer::unknown;
    }

protected:
    // `channel`: where we are told of our turn.
    dialect(key_names names, std::string channel)
        : names_(std::move(names)),
          common_(names_, std::move(channel))
    {}

private:
    key_names names_;
    common_calls common_;
};

} // namespace holdfast::redis
