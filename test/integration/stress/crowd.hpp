#pragma once

#include "support/run.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/strand.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace holdfast::test {

/// The number of threads that run the context of a crowd.
inline constexpr std::size_t crowd_threads = 8;

/// The number of operations: `HOLDFAST_STRESS_OPERATIONS`, or `usual` if that is not set.
std::uint64_t operations_wanted(std::uint64_t usual);

struct crowd_settings {
    std::uint64_t operations = 0;
    std::size_t actors = 48, lockers = 3, resources = 24;
    bool exclusive = true;           ///< whether the store excludes lockers from each other
    std::set<error_code> may_fail{}; ///< errors allowed in addition to those that actors cause
};

/// Shared by the actors. May be used from many threads.
class crowd_world {
public:
    crowd_world(asio::io_context& io, backend store, const crowd_settings& settings);

    const crowd_settings settings;

    /// Whether another operation may begin.
    bool begin_operation() noexcept;
    std::shared_ptr<holdfast::locker> locker(std::size_t which);
    /// Replaces a locker by a new one. Returns the old one.
    std::shared_ptr<holdfast::locker> replace_locker(std::size_t which);
    /// Called when an actor has finished. The last one closes the lockers.
    void retire();

    void enter(std::size_t resource);
    void leave(std::size_t resource) noexcept;

    /// Counts, to check that the crowd does work.
    void count_cancelled() noexcept { ++cancelled_; }
    std::uint64_t granted() const noexcept { return granted_; }
    std::uint64_t cancelled() const noexcept { return cancelled_; }

    /// Records a broken promise. The first few are kept.
    void complain(const std::string& what);
    std::vector<std::string> complaints();

private:
    std::shared_ptr<holdfast::locker> make_locker() const;

    asio::io_context& io_;
    const backend store_;
    std::atomic<std::uint64_t> begun_ = 0;
    std::atomic<std::uint64_t> granted_ = 0, cancelled_ = 0;
    std::atomic<std::size_t> retired_ = 0;
    std::deque<std::atomic<int>> inside_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<holdfast::locker>> lockers_;
    std::vector<std::string> complaints_;
};

/// While it lives, a holder is inside the resource.
class visit {
public:
    visit(crowd_world& world, std::size_t resource) : world_(world), resource_(resource)
    {
        world_.enter(resource_);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { world_.leave(resource_); }

private:
    crowd_world& world_;
    std::size_t resource_;
};

/// Performs one operation after the other, on its own strand, and cancels some of them.
class actor {
public:
    actor(asio::io_context& io, crowd_world& world, std::uint32_t seed);

    void start();
    /// Called when the context has run to its end: each operation must have completed.
    void check_end();

private:
    std::size_t random(std::size_t below) { return random_() % below; }
    void step();
    void act_without_lease();
    void act_with_lease();
    void acquire();
    void try_acquire();
    void hold();
    void extend();
    void release();
    void watch(bool cancelled);
    void watch_in_background();
    void replace_a_locker();

    template <class Start, class Then>
    void perform(Start start, Then then, bool must_cancel = false);
    void take_turns(std::size_t left, bool cancels);
    void ended_one();
    void take(lease granted, std::size_t resource);
    void let_go() noexcept;
    void judge(error_code ec);
    void judge(const std::exception_ptr& error);
    void check(bool kept, const char* promise);
    holdfast::lock any_lock(std::size_t resource);

    crowd_world& world_;
    asio::strand<asio::io_context::executor_type> strand_;
    std::mt19937 random_;
    asio::cancellation_signal signal_;
    std::size_t open_ = 0; // open parts of the current operation
    std::uint64_t started_ = 0, completed_ = 0;
    std::uint64_t watches_ = 0, watches_ended_ = 0;
    bool initiating_ = false;
    lease lease_;
    std::optional<visit> visit_; // while there is a lease
};

/// Runs a crowd on a store, and fails the test if a promise is broken.
void run_crowd(const backend& store, const crowd_settings& settings);

} // namespace holdfast::test
