#pragma once

#include "usage.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace benchmark {

using clock = std::chrono::steady_clock;

// The load of a client, which acquires and releases repeatedly.
struct load {
    std::size_t concurrency = 256; // acquires and releases in flight
    std::chrono::milliseconds warm_up{200}, length{1'000};
    bool shared = false;  // all want one resource; otherwise each has its own
    bool fresh = false;   // each lock is on a new resource
    bool latency = false; // measure the latency of each lock
    bool fenced = false;  // with fencing tokens; the nodes must never have had unfenced locks
    std::size_t threads = 1;
    bool locker_each = false; // each thread has its own locker; otherwise all share one
    std::string ca_file{};    // for nodes over TLS
};

// The result in the time `length` after the warm-up.
struct result {
    double seconds = 0;     // of wall time
    double cpu_seconds = 0; // of this process, user and system
    std::uint64_t locks = 0;
    std::vector<float> acquire_us, cycle_us; // of each lock, if measured

    // Of the whole run, for the library only: requests to nodes beyond one acquire and one release
    // per lock and node. Small compared with `all_locks` unless locks need more requests.
    std::uint64_t more_requests = 0;
    std::uint64_t all_locks = 0;

    // Counts one lock.
    void count(bool with_latency, clock::time_point asked, clock::time_point acquired)
    {
        ++locks;
        if (!with_latency)
            return;
        using us = std::chrono::duration<float, std::micro>;
        acquire_us.push_back(us(acquired - asked).count());
        cycle_us.push_back(us(clock::now() - asked).count());
    }

    // Adds the locks of another result.
    void add(const result& other)
    {
        locks += other.locks;
        acquire_us.insert(acquire_us.end(), other.acquire_us.begin(), other.acquire_us.end());
        cycle_us.insert(cycle_us.end(), other.cycle_us.begin(), other.cycle_us.end());
    }

    double rate() const { return static_cast<double>(locks) / seconds; }
    double cpu_us() const { return cpu_seconds * 1e6 / static_cast<double>(locks); }
};

// Counts the locks between `begin()` and `end()`.
class meter {
public:
    explicit meter(const load& wanted) : latency_(wanted.latency) {}

    void begin()
    {
        counting_ = true;
        begin_ = clock::now();
        cpu_begin_ = cpu_seconds_now();
    }
    void end()
    {
        counting_ = false;
        result_.seconds = std::chrono::duration<double>(clock::now() - begin_).count();
        result_.cpu_seconds = cpu_seconds_now() - cpu_begin_;
    }

    // The time, if latency is measured.
    clock::time_point now() const { return latency_ ? clock::now() : clock::time_point(); }

    void count(clock::time_point asked, clock::time_point acquired)
    {
        if (counting_)
            result_.count(latency_, asked, acquired);
    }

    result take() { return std::move(result_); }

private:
    bool latency_, counting_ = false;
    clock::time_point begin_;
    double cpu_begin_ = 0;
    result result_;
};

} // namespace benchmark
