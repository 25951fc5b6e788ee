#pragma once

#include "support/call.hpp"
#include "support/run.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/test/data/test_case.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

/// A backend that must satisfy the contract.
struct subject {
    const char* name;

    bool has_tokens; ///< leases carry a fencing token

    /// Returns the same store each time. Servers are started at the first use and run until the
    /// end.
    backend (*make)();

    bool inspects = true;     ///< it can tell who holds a lock: `core::backend_core::inspection()`
    bool takes_away = true;   ///< and `locker::force_release()` works
    bool tells_losses = true; ///< and the holder is told
    bool names_processes = true; ///< it knows the process behind an owner
    bool tells_time_left = true; ///< it knows how long a lock lasts unless it is renewed
    /// How long a lock of ttl 3 s may stay that its locker has left in the store.
    std::chrono::seconds longest_stay{6};

    friend std::ostream& operator<<(std::ostream& out, const subject& s) { return out << s.name; }
};

/// All backends; each is one entry in subjects.cpp. Every case of the contract runs once on each.
const std::vector<subject>& every_backend();

/// Runs `work(scene&, const subject&)` with so many lockers on all backends at the same time, for
/// cases that mostly wait. They make their checks in a BOOST_TEST_CONTEXT with the subject, which
/// must end before the next co_await.
template <class Work>
void play_on_all(std::size_t lockers, Work work)
{
    asio::io_context io;
    std::deque<scene> scenes;
    std::set<std::string> unfinished;
    const auto play_one = [&](scene& s, const subject& each) -> task {
        unfinished.insert(each.name);
        try {
            co_await work(s, each);
        } catch (const std::exception& e) {
            BOOST_ERROR(each << ": " << e.what());
        }
        unfinished.erase(each.name);
    };
    for (const subject& each : every_backend())
        each.make(); // the first start of servers would outlast the timeouts of lockers
    std::vector<task> all;
    for (const subject& each : every_backend())
        all.push_back(play_one(scenes.emplace_back(io, each.make(), lockers), each));
    try {
        run(io, std::move(all));
    } catch (...) {
        for (const std::string& name : unfinished)
            BOOST_TEST_MESSAGE("not at the end: " << name);
        throw;
    }
    for (scene& s : scenes)
        s.close();
    expect_no_work_left(io);
}

/// For cases that test only the locker, whatever the backend: one that needs no servers.
inline backend any_backend()
{
    return memory();
}

/// Short, so that tests wait little, but long enough for a busy machine to renew in time.
inline lock_options brief(std::chrono::milliseconds ttl = 3s)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

inline lock_options unrenewed(std::chrono::milliseconds ttl = 1s)
{
    lock_options options = brief(ttl);
    options.renewal = renewal::manual;
    options.guard = ttl / 2; // a busy machine may notice late
    return options;
}

/// For work that must have stopped before its lease ends: a busy machine has two seconds for it.
inline lock_options warned_early()
{
    lock_options options = unrenewed(3s);
    options.guard = 2s;
    return options;
}

/// Returns when the locker has locked something with these options. An attempt of a locker that is
/// not connected yet may take longer on a busy disk than a test waits for a lock; then the store
/// is reported to be unreachable, and the lock not to be contended.
inline task connect(holdfast::locker& who, lock_options options = {})
{
    const holdfast::lock other(who, unique_name(), options);
    lease held = co_await other.acquire(20s);
    co_await held.release();
}

} // namespace holdfast::test
