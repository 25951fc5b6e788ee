#pragma once

#include "support/child_process.hpp"
#include "support/cluster.hpp"
#include "support/history.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// What a worker does; see lock_worker.cpp.
struct job {
    std::string lock = "holdfast";
    std::string resource = "short";
    std::chrono::milliseconds ttl = 1500ms;
    std::chrono::milliseconds work = 5ms;
    std::chrono::milliseconds guard = ttl / 3; ///< longer than a busy machine keeps us waiting
};

/// The other kind: work that ends only when it must.
inline job long_job(std::chrono::milliseconds ttl = 1500ms)
{
    return {.lock = "holdfast", .resource = "long", .ttl = ttl, .work = 1h};
}

/// One hold, as the worker told it.
struct hold_record {
    std::string resource;
    steady::time_point from, valid_until; ///< `valid_until` as it was last told
    std::optional<steady::time_point> over;
    std::string why; ///< "released", "lost" or "expired"
};

struct journal {
    std::vector<hold_record> holds; ///< in the order of their beginnings
    std::vector<std::pair<steady::time_point, errc>> failures;
    std::vector<long> numbers; ///< written under the lock
};

/// A process that runs a job.
class worker {
public:
    worker(const job& work, std::size_t holder, const std::string& folder,
        const std::vector<std::string>& urls);

    void freeze(); ///< SIGSTOP; returns when it has stopped
    void thaw();
    void kill(); ///< SIGKILL
    void ask_to_end();
    bool ends_well(); ///< waits for its end; true if it was orderly

    bool killed() const { return killed_; }
    bool was_frozen() const { return was_frozen_; }
    const std::string& resource() const { return resource_; }
    std::size_t holder() const { return holder_; }

    journal read() const;

    /// Its holds, for the checker. Only a worker that runs can say when a hold is over; one that is
    /// killed or frozen holds until the end of its lease, as far as it knew it.
    std::vector<holding> holdings() const;

private:
    std::string resource_, journal_;
    std::size_t holder_;
    child_process process_;
    pid_t pid_;
    bool killed_ = false, was_frozen_ = false;
};

/// Workers that contend, and what they have to show in the end.
class team {
public:
    team();
    ~team();

    worker& add(const job& work, const std::vector<std::string>& urls);
    /// Two that hold on to one resource, the first of them with a vote of every node, and three
    /// that work briefly under another.
    void add_both_kinds(
        cluster& c, const std::vector<std::string>& urls, const job& keeping = long_job());

    /// Blocks until it is so; fails the test when that takes too long. Calls `meanwhile` again and
    /// again, if there is one.
    void wait_until(const std::string& what, const std::function<bool()>& so);
    std::function<void()> meanwhile;

    /// Until so many more holds of the resource have begun.
    void wait_for_holds(std::size_t count, const std::string& resource = "short");
    /// Until somebody holds the resource, other than `not_him`; who.
    worker& wait_for_holder(const std::string& resource = "long", const worker* not_him = nullptr);
    /// Until this worker's lease is good for that long from now.
    void wait_for_renewals(worker& holder, steady::duration length);
    /// Until its hold has ended; the record of it.
    hold_record wait_for_end(worker& holder);
    /// Until a worker for the resource has failed with this error from now on.
    void wait_for_failure(errc error, const std::string& resource = "short");

    std::vector<hold_record> holds(const std::string& resource) const;
    std::vector<holding> history() const;

    /// The numbers that two workers have written: both had read the same one before. Those whose
    /// worker was frozen do not count: nobody can look at his lock and write at one moment.
    std::vector<long> lost_numbers() const;

    /// Ends all workers; they must end well.
    void end_all();
    /// Ends all workers, and judges what they did: no two of them held one resource at once, and
    /// no number is lost.
    void finish();

    std::deque<worker> workers;

private:
    std::string folder_;
};

/// Nothing of ours may be on any node any more when the ttl is over.
void expect_nothing_left(cluster& c);

} // namespace holdfast::test
