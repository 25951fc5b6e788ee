#pragma once

#include "core/slot_map.hpp"
#include "core/time.hpp"
#include "etcd/channel.hpp"
#include "etcd/wire/messages.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

namespace holdfast::etcd_store {

// The watches of the queues that are contended here, in one call. A new watch of etcd may be up to
// 100 ms late, so a watch is kept for a while after the claim that needed it.
class watches {
public:
    // The claim wants the deletions from the revision `start` on. `start` must not be before that
    // of an earlier claim on this queue.
    void watch(const std::string& queue, core::slot_id claim, std::int64_t start, channel& by);
    // If the queue is watched, the claim gets the deletions from now on.
    void join(const std::string& queue, core::slot_id claim);
    // The claim has ended.
    void leave(const std::string& queue, core::slot_id claim, core::time_point now);

    // The claim wants to know of keys that are put into its queue, from the revision `start` on,
    // until end_report(). `by`: null if no member is connected.
    void report_puts(
        const std::string& queue, core::slot_id claim, std::int64_t start, channel& by);
    bool reports_puts(core::slot_id claim) const { return reports_.contains(claim); }
    void end_report(core::slot_id claim, channel* by);
    // The claim that wants to know of the puts that the server reports; 0: none.
    core::slot_id reported_to(const wire::watch_reply& reply) const;

    wire::stream_id call() const noexcept { return call_; }
    // The call has ended, or the connection: nothing is watched any more.
    void ended();

    // The claim that gets what the server reports; 0: none.
    core::slot_id claim_of(const wire::watch_reply& reply) const;
    // A watch was refused or has ended. False if it is not known here.
    bool canceled(const wire::watch_reply& reply);

    // Ends watches that were not needed for long.
    void wake(core::time_point now, channel* by);
    core::time_point wake_at() const noexcept
    {
        return unused_.empty() ? core::never : unused_.front().at;
    }

private:
    void send(const std::string& request, channel& by);

    struct watched {
        std::int64_t id = 0;
        core::slot_id claim = 0;
        core::time_point left{};
    };
    struct departure {
        core::time_point at{};
        std::string queue;
    };

    static constexpr core::duration kept_for = std::chrono::seconds(10);

    wire::stream_id call_ = 0;
    std::int64_t last_id_ = 0;
    std::unordered_map<std::string, watched> queues_;
    std::unordered_map<std::int64_t, std::string> names_; // of the queues, by the id of the watch
    std::deque<departure> unused_;
    std::unordered_map<core::slot_id, std::int64_t> reports_; // the watch of each claim
    std::unordered_map<std::int64_t, core::slot_id> reporting_;
};

} // namespace holdfast::etcd_store
