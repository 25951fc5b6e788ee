#pragma once

#include "core/time.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/request.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::redis {

// Whether a node still answers, and answers its requests in order.
//
// A proxy that swallows requests shifts all later replies. Usually the next request of another kind
// shows that, by a reply of the wrong type. Otherwise it is found in one of these ways:
// - Nothing is answered for the silence timeout, whatever else arrives. Each answer starts it
//   again, so a slow node that keeps answering is not given up, however long the requests behind
//   wait.
// - For that time, each answer has left another request waiting. That happens when a request has
//   been swallowed, and also when there is always something to do. Then the node is asked a
//   question that has only one right answer, which must come in its place.
class answer_watch {
public:
    explicit answer_watch(core::duration silence_timeout) noexcept : timeout_(silence_timeout) {}

    // A connection is ready, or lost.
    void start(core::time_point now) noexcept;
    void stop() noexcept { look_at_ = core::never; }

    // True if it gives a new time to look at the node.
    bool on_sent(core::time_point now) noexcept
    {
        if (look_at_ != core::never) // it may be too early: answers postpone the deadlines
            return false;
        look_at_ = now + timeout_;
        return true;
    }
    // `more_wait`: other requests are under way.
    void on_answered(request_kind kind, bool more_wait, core::time_point now) noexcept;

    // How long nothing has been answered. `oldest`: when the oldest request under way was sent.
    core::duration silence(core::time_point oldest, core::time_point now) const noexcept
    {
        return now - std::max(oldest, last_answered_);
    }

    // When to look; not too late, but possibly too early.
    core::time_point look_at() const noexcept { return look_at_; }
    enum class finding : std::uint8_t {
        fine,
        silent,  // for too long
        in_doubt // the question must be sent now, as a request of the kind `order`
    };
    finding look(core::time_point oldest, core::time_point now) noexcept;

    // One encoded command.
    static std::string question();
    // Whether this may be the answer to a request of that kind.
    bool in_order(request_kind kind, reply answer) const noexcept
    {
        return !asked_ || is_in_place(kind, answer);
    }

private:
    core::time_point question_due() const noexcept;
    static bool is_in_place(request_kind kind, reply answer) noexcept;

    core::duration timeout_;
    core::time_point last_answered_{};
    core::time_point behind_since_ = core::never; // since then, answers leave requests waiting
    core::time_point look_at_ = core::never;
    bool asked_ = false; // the question, and it is not answered
};

} // namespace holdfast::redis
