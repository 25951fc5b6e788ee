#pragma once

#include "verification/recipes/process.hpp"

#include <holdfast/error.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace holdfast::recipe_simulation {

// How often things go wrong, as probabilities. In a quiet world nothing does.
struct troubles {
    double lost_reply = 0;   // the store grants, but the process learns nothing of it
    double lost_release = 0; // the store does not get the release
    double end_of_lease = 0; // a renewal fails for good
};

// A lease as its process sees it, and as it is.
class held_lease : public std::enable_shared_from_this<held_lease> {
public:
    held_lease(process& p, std::string name) : owner(p), resource(std::move(name)) {}

    // Calls `stop` when the process is told that the lease is lost; soon, if it was told before.
    void when_lost(std::function<void()> stop)
    {
        on_lost = std::move(stop);
        if (told)
            owner.deliver_at(owner.now(), [self = shared_from_this()] { self->tell(); });
    }
    void tell()
    {
        told = true;
        if (on_lost)
            std::exchange(on_lost, nullptr)();
    }

    // As `lease::held()`: by the clock of the process.
    bool held() const noexcept { return !released && owner.now() < valid_until; }
    // In true time. No user may believe in the lease after that, even if paused meanwhile.
    time_point believed_until() const noexcept { return owner.true_time(valid_until); }

    process& owner;
    const std::string resource;
    std::uint64_t token = 0;  // grows from grant to grant of a resource
    time_point valid_until{}; // by the clock of the process
    bool released = false;    // by the process
    bool told = false;        // that it is lost
    std::function<void()> on_lost;
};
using lease_pointer = std::shared_ptr<held_lease>;

// A store of locks that keeps the contract of `lock`, and no more than that:
// - A lease excludes others until `valid_until`, by a clock that may run at the wrong rate. The
//   store keeps the lock longer, as the drift allows for.
// - Waiters are served first come, first served; a try never overtakes them.
// - A grant may get lost: the lock stays taken up to a ttl, and the wait fails or goes on. A grant
//   that arrives late is `too_late`.
// - A lease may be lost at any time. Its process is told a guard time before the end, or, if it is
//   paused, when it goes on.
// - A crash of a process leaves its locks taken up to a ttl.
class lock_service {
public:
    using answer = std::function<void(error_code, lease_pointer)>;
    using request_id = std::uint64_t;

    lock_service(world& w, duration length) : ttl(length), world_(w) {}
    lock_service(const lock_service&) = delete;
    lock_service& operator=(const lock_service&) = delete;
    ~lock_service();

    // As `lock::acquire()` and, with `once`, `try_acquire()`. `until`: by the process's clock. The
    // answer is delivered to the process. An empty lease without an error: a try found it taken.
    request_id acquire(
        process& p, const std::string& resource, bool once, time_point until, answer done);
    // The answer is not delivered any more. What is granted nevertheless is released.
    void cancel(request_id request);
    void release(const lease_pointer& held);

    bool is_free(const std::string& resource) const; // at the store
    // How often it was granted.
    std::uint64_t grants(const std::string& resource) { return locks_[resource].last_token; }

    const duration ttl;
    troubles trouble;

    duration guard() const noexcept { return ttl / 20; }
    duration drift() const noexcept { return ttl / 100 + 2ms; }

private:
    struct request {
        request_id id;
        process* from;
        std::string resource;
        bool once;
        time_point until;
        answer done;
        bool over = false;
    };
    using request_pointer = std::shared_ptr<request>;
    struct lock_state {
        std::uint64_t grant = 0; // 0: free
        time_point until{};      // the store keeps it until then, unless it is renewed
        std::uint64_t last_token = 0;
        std::deque<request_pointer> queue;
    };

    duration latency() { return world_.random.of_any_size(50us, 20ms); }
    void arrive(const request_pointer& r);
    void serve(const std::string& resource);
    void grant(const request_pointer& r, lock_state& lock);
    void give(const request_pointer& r, std::uint64_t grant, std::uint64_t token, time_point sent);
    void keep(const lease_pointer& held, std::uint64_t grant);
    void watch_end(const lease_pointer& held);
    void end_at(const std::string& resource, std::uint64_t grant, time_point when);
    void answer_with(const request_pointer& r, error_code why);

    world& world_;
    std::map<std::string, lock_state> locks_;
    std::map<request_id, request_pointer> requests_;
    struct given {
        std::weak_ptr<held_lease> lease;
        std::uint64_t grant = 0;
    };
    std::map<const held_lease*, given> given_; // the leases that were not released
    std::uint64_t count_ = 0;
};

} // namespace holdfast::recipe_simulation
