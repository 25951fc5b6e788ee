#pragma once

#include "support/child_process.hpp"
#include "support/cluster.hpp"
#include "support/history.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// The job of a worker; see lock_worker.cpp.
struct job {
    std::string lock = "holdfast";
    std::string resource = "short";
    std::chrono::milliseconds ttl = 1500ms;
    std::chrono::milliseconds work = 5ms;
    std::chrono::milliseconds guard = ttl / 3; ///< longer than delays on a busy machine
};

/// The other kind of job: work that goes on as long as the lease.
inline job long_job(std::chrono::milliseconds ttl = 1500ms)
{
    return {.lock = "holdfast", .resource = "long", .ttl = ttl, .work = 1h};
}

/// One hold, as recorded by the worker.
struct hold_record {
    std::string resource;
    steady::time_point from, valid_until; ///< `valid_until` as last recorded
    std::optional<steady::time_point> over;
    std::string why; ///< "released", "lost" or "expired"
};

struct journal {
    std::vector<hold_record> holds; ///< ordered by `from`
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
    bool ends_well(); ///< waits for its end; true if it ended normally

    bool killed() const { return killed_; }
    bool was_frozen() const { return was_frozen_; }
    const std::string& resource() const { return resource_; }
    std::size_t holder() const { return holder_; }

    journal read() const;

    /// Its holds, for the checker. Only a running worker can tell when a hold has ended. A worker
    /// that is killed or frozen holds until the end of its lease, as last recorded.
    std::vector<holding> holdings() const;

private:
    std::string resource_, journal_;
    std::size_t holder_;
    child_process process_;
    bool killed_ = false, was_frozen_ = false;
};

/// Workers that contend, and checks of their results.
class team {
    temporary_folder folder_{"team"}; // of the workers' files; deleted after the workers

public:
    worker& add(const job& work, const std::vector<std::string>& urls);
    /// Two workers that keep one resource, the first of them with a vote of every node, and three
    /// that work briefly under another resource.
    void add_both_kinds(
        cluster& c, const std::vector<std::string>& urls, const job& keeping = long_job());

    /// Blocks until `so` returns true. Fails the test if that takes too long. Calls `meanwhile`
    /// repeatedly if it is set.
    void wait_until(const std::string& what, const std::function<bool()>& so);
    std::function<void()> meanwhile;

    /// Waits until so many more holds of the resource have begun.
    void wait_for_holds(std::size_t count, const std::string& resource = "short");
    /// Waits until a worker other than `excluded` holds the resource. Returns that worker.
    worker& wait_for_holder(const std::string& resource = "long", const worker* excluded = nullptr);
    /// Waits until this worker's lease is valid for that long from now.
    void wait_for_renewals(worker& holder, steady::duration length);
    /// Waits until its hold has ended. Returns the record of the hold.
    hold_record wait_for_end(worker& holder);
    /// Waits until a worker for the resource fails with this error after the call.
    void wait_for_failure(errc error, const std::string& resource = "short");

    std::vector<hold_record> holds(const std::string& resource) const;
    std::vector<holding> history() const;

    /// The numbers that two workers have written: both had read the same number before. Empty if a
    /// worker was frozen: a worker cannot check its lock and write in one step.
    std::vector<long> lost_numbers() const;

    /// Ends all workers; they must end well.
    void end_all();
    /// Ends all workers and checks what they did: no two of them held one resource at the same
    /// time, and no number is lost.
    void finish();

    std::deque<worker> workers;
};

/// Expects that no key will be left on any node after the ttl.
void expect_nothing_left(cluster& c);

} // namespace holdfast::test
