#pragma once

#include "core/time.hpp"

#include <holdfast/error.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace holdfast::io {

// Serves one connection of a backend. All members are called under the owner's mutex.
class transport {
public:
    virtual ~transport() = default;

    // Opens or closes what the connection requests to be opened or closed. True if that changed
    // anything.
    virtual bool follow(core::time_point now) = 0;
    // Sends the pending output, as far as the socket takes it. `now`: a time just before the call,
    // or earlier.
    virtual void flush(core::time_point now) = 0;
    // Whether flush() would send something.
    virtual bool has_output() const noexcept = 0;
    virtual void close() noexcept = 0;
    // In a child process: nothing is sent on its copy of the socket, not even a farewell.
    virtual void leave_socket() noexcept {}

    // All bytes that had arrived by this time have been read.
    virtual core::time_point read_until(core::time_point now) const noexcept = 0;
    // note_empty() records whether the socket has unread bytes now. Bytes that were read but not
    // processed yet belong to completions that the executor has already queued. So call
    // confirm_empty() from a handler posted after note_empty(): if there were no unread bytes, all
    // bytes that had arrived by `now` have been processed by then.
    virtual void note_empty(core::time_point now) = 0;
    virtual void confirm_empty() noexcept = 0;
};

// The owner of transports.
class transport_owner {
public:
    // Keeps the owner, and so its transports, alive.
    virtual std::shared_ptr<transport_owner> owned() = 0;
    // Runs `action(context)` under the owner's mutex, then performs its consequences; nothing if
    // the owner has been abandoned.
    virtual void enter_from_transport(void (*action)(void*), void* context) = 0;

protected:
    ~transport_owner() = default;
};

// Creates completion handlers that run under the owner's mutex, unless they were dismissed.
// Precondition: it is a member of something that the owner keeps alive until it is abandoned.
class handler_guard {
public:
    explicit handler_guard(transport_owner& owner) noexcept : owner_(owner) {}
    handler_guard(const handler_guard&) = delete;
    handler_guard& operator=(const handler_guard&) = delete;

    // The handlers that were created so far will do nothing.
    void dismiss() noexcept { ++generation_; }

    template <class Handler>
    auto operator()(Handler handler)
    {
        return [owner = owner_.owned(), this, created = generation_, handler](
                   error_code ec, auto&&... results) {
            auto action = [&] {
                if (created == generation_)
                    handler(ec, std::forward<decltype(results)>(results)...);
            };
            owner->enter_from_transport(
                [](void* context) { (*static_cast<decltype(action)*>(context))(); }, &action);
        };
    }

private:
    transport_owner& owner_;
    std::uint64_t generation_ = 0;
};

} // namespace holdfast::io
