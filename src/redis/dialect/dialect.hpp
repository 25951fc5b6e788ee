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
struct key_answer {
    vote said = vote::unknown;
    errc why{}; // why it has neither granted nor refused, if known
};

// The answer of a queue node to a request for a place in the queue.
struct place_answer {
    enum class meaning : std::uint8_t {
        granted, // the key is ours
        waits,   // we are in the queue; the key is free in `left` ms, -1: at an unknown time
        window,  // the key is left to clients that poll for `left` ms
        refused, // an error
        broken,  // not an answer to this request
    };
    meaning said = meaning::broken;
    std::int64_t left = 0;
};

key_answer read_key_answer(const request& r, reply answer) noexcept;
place_answer read_place_answer(reply answer) noexcept;

// The names of keys, the requests for locks, and the differences between plain and fenced mode. An
// encoded request stays valid until the next call that encodes or reads.
class dialect {
public:
    virtual ~dialect() = default;

    key_names& names() noexcept { return names_; }
    common_calls& common() noexcept { return common_; }

    // No claim may have a longer ttl.
    virtual core::duration longest_ttl() const noexcept { return core::duration::max(); }
    // Whether polling clients may want what we lock.
    virtual bool has_polling_clients() const noexcept = 0;

    // A claim begins. token_of(): it has been granted, and gets its token if there is one.
    virtual void begin(claim&) {}
    virtual std::optional<std::uint64_t> token_of(claim&) { return std::nullopt; }

    // A node has become reachable; it has become unreachable; it has answered one of the dialect's
    // own requests, or never will.
    virtual void on_ready(std::size_t, core::time_point) {}
    virtual void on_down(std::size_t) noexcept {}
    virtual void on_reply(std::size_t, const request&, reply, core::time_point) {}
    // Its own requests that are due whether or not locks are used.
    virtual core::time_point wake_at() const noexcept { return core::never; }
    virtual void wake(core::time_point) {}

    // The node cannot count for this claim now, although it is reachable: why.
    virtual errc refuses(std::size_t, claim&, core::time_point) { return {}; }
    // choose_ballot() has found no ballot that is permitted now: the node is not asked.
    virtual errc refuses_without_ballot(std::size_t, claim&, core::time_point) { return {}; }

    // In fenced mode, a request for a key is followed by a ballot.
    // Chooses the first ballot of a claim, or a larger one. False if there is none that the clocks
    // permit; then nodes that have refused the last one do not count.
    virtual bool choose_ballot(claim&, core::time_point) { return true; }
    virtual std::string_view ballot(const claim&) { return {}; }
    // Asks for the largest ballot that the register of the claim has accepted.
    virtual std::string_view largest_ballot(const claim&) { return {}; }
    // The answer to a ballot: `why`, if the node does not count for the claim at all; `broken`, if
    // it is no answer to a ballot.
    struct ballot_reply {
        ballot_answer said = ballot_answer::unknown;
        errc why{};
        bool broken = false;
    };
    virtual ballot_reply read_ballot(std::size_t, reply, claim*, core::time_point) { return {}; }
    // Notes the largest ballot. Returns why the node does not count for the claim, if so. The claim
    // may be null: it has ended.
    virtual errc read_largest(std::size_t, reply, claim*, core::time_point) { return {}; }

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
