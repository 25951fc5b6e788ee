#pragma once

#include "core/time.hpp"
#include "redis/node/redirection.hpp"
#include "redis/node/reply.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::redis {

// What a request asks of a node.
enum class request_kind : std::uint8_t {
    acquire, // the lock, if it is free
    confirm, // the lock, if it was handed off to us
    ballot,  // stores a ballot for a token
    largest, // the largest ballot that it has accepted
    repair,  // the lock, where the node has lost it
    renew,
    remove,   // deletes the lock
    hand_off, // deletes it, or hands it off to the next in the queue
    give,     // gives the lease to the next in the queue
    enqueue,  // the lock if it is our turn, else a place in the queue
    join,     // a place in the queue; does not take the lock
    leave,    // gives up a place
    first,    // which entry is the first in the queue
    look,     // whether there is a queue
    notice,   // the same, and tracked
    owner,    // the owner of the lock
    track,    // asks for a push when the key of the next request changes
    tracked,
    untrack,   // ends that for a queue in which nobody waits
    type,      // of the key
    time_left, // of the key
    open,      // makes a node ready for fenced mode, and asks for its state
    time,      // its clock
    record,    // the settings of other clients that it has recorded
    order,     // checks the order of replies: the session's own
    asking,    // the next request is for a slot on its way here: the session's own
    // The others are for people. What a node refuses of these says nothing about its locks.
    introduce, // stores our client record
    compare,   // reads it back
    prolong,   // gives it a new ttl
    withdraw,  // deletes it
    view,      // the lock and its queue
    scan,      // a step through the keys
    clients,   // client records of others
    tell,      // tells a holder that its lock is taken away
    take,      // deletes the lock of another client, or hands it off
};

constexpr bool is_of_session(request_kind kind) noexcept
{
    return kind == request_kind::order || kind == request_kind::asking;
}

constexpr bool is_for_people(request_kind kind) noexcept
{
    return kind >= request_kind::introduce;
}

// A request under way, to which its reply is matched.
struct request {
    std::uint64_t reference = 0; // the sender's
    std::uint32_t bytes = 0;     // of the command; the session's own
    request_kind kind{};
    bool by_text : 1 = false; // the script is sent in full, because the node had forgotten it
    bool follows : 1 = false; // another request of the same step, after the answer of the node
    std::uint16_t ballot = 0; // which one of the claim it is; or was the last one
    core::time_point sent{};  // when it was queued; later, when its last byte was sent
};

// The user of a session. `node` is the number that the session was given.
class session_owner {
public:
    // The greeting is over. A non-empty text refuses the node, for example because it is listed
    // twice.
    virtual std::string admit(std::size_t node) = 0;
    virtual void on_ready(std::size_t node, core::time_point now) = 0;
    // The node has sent a push.
    virtual void on_push(std::size_t node, reply push, core::time_point now) = 0;
    virtual void on_reply(
        std::size_t node, const request& r, reply answer, core::time_point now) = 0;
    // In a cluster: the node sends the request elsewhere. Comes before the answer itself.
    virtual void on_redirected(
        std::size_t /*node*/, const request& /*r*/, const redirection& /*where*/)
    {}
    // The node has forgotten the script that the request calls. Sends the request again with the
    // script in full. False if it is no longer needed; then the answer is handled like any other
    // reply.
    virtual bool say_again(std::size_t node, const request& r, core::time_point now) = 0;
    // The request was sent noticeably later than it was queued: `r.sent` is the later time.
    virtual void on_sent_late(std::size_t node, const request& r, core::time_point now) = 0;
    // The connection broke before the reply came: it is unknown whether the request was executed.
    virtual void on_orphaned(std::size_t node, const request& r, core::time_point now) = 0;
    // The node has become unreachable; also after a first connection that failed.
    virtual void on_down(std::size_t node, core::time_point now) = 0;

protected:
    ~session_owner() = default;
};

} // namespace holdfast::redis
