#pragma once

#include "core/time.hpp"
#include "redis/reply.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::redis {

// Which question a request puts to a node.
enum class request_kind : std::uint8_t {
    acquire,    // the lock, if it is free
    confirm,    // the lock, if it was handed over to us
    write_back, // stores the end of our block of tokens
    repair,     // the lock, where the node has lost it
    renew,
    remove,   // deletes the lock
    hand_off, // deletes it, or hands it to the next in the queue
    enqueue,  // the lock if it is our turn, else a place in the queue
    join,     // a place in the queue; takes nothing
    leave,    // gives up a place
    first,    // who is the first in the queue
    look,     // whether there is a queue
    owner,    // who has the lock
    track,    // asks for a push when the key changes that the next request names
    tracked,
    type,      // of the key
    time_left, // of the key
    probe,     // what state a node of fenced mode is in
    record,    // what other clients have agreed on with it
    order,     // of replies: the session's own
};

// What was asked, so that its reply finds its way back.
struct request {
    std::uint64_t reference = 0; // the asker's
    std::uint32_t bytes = 0;     // of the command; the session's own
    request_kind kind{};
    bool by_text = false;    // a script is sent in full, because the node had forgotten it
    core::time_point sent{}; // when it was queued, and from then on when its last byte went out
};

// Who asks. `node` is the number that the session was given.
class session_owner {
public:
    // The greeting is over. An error text refuses the node, as one that is listed twice, say.
    virtual std::string admit(std::size_t node) = 0;
    virtual void on_ready(std::size_t node, core::time_point now) = 0;
    // The node has said something without being asked.
    virtual void on_push(std::size_t node, reply push, core::time_point now) = 0;
    virtual void on_reply(
        std::size_t node, const request& r, reply answer, core::time_point now) = 0;
    // The node has forgotten the script that the request calls. Sends the request again with the
    // script in full. False if it is of no use any more; then the answer is a reply like any other.
    virtual bool say_again(std::size_t node, const request& r, core::time_point now) = 0;
    // The request has gone out noticeably later than it was queued: `r.sent` is later now.
    virtual void on_sent_late(std::size_t node, const request& r, core::time_point now) = 0;
    // The connection broke before the reply came: nobody knows what became of the request.
    virtual void on_orphaned(std::size_t node, const request& r, core::time_point now) = 0;
    // The node has become unreachable; also after a first connection that failed.
    virtual void on_down(std::size_t node, core::time_point now) = 0;

protected:
    ~session_owner() = default;
};

} // namespace holdfast::redis
