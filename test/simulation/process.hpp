#pragma once

#include "core/alarm.hpp"
#include "simulation/clocks.hpp"
#include "simulation/network.hpp"
#include "simulation/plan.hpp"
#include "simulation/subject.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::simulation {

// What a process and its users share with the rest of the world.
struct surroundings {
    schedule& time;
    dice& chance;
    network& net;
    referee& judge;
    const plan& settings;
    subject_maker make_subject = nullptr;
    std::function<void(const std::string&)> trace; // empty: nobody reads it
    bool calm = false;                             // nothing is broken any more
    bool winding_up = false;                       // nobody begins anything

    void note(const std::string& who, const std::string& what) const
    {
        if (trace)
            trace(who + " " + what);
    }
};

// Who is told what becomes of an operation.
class user_of_locks {
public:
    virtual void on_effect(const core::effect& e) = 0;

protected:
    ~user_of_locks() = default;
};

// A process with one locker: the shell of the simulation. It does what the real one does (one
// timer, one turn for all output, streams that follow what the connections want), on simulated
// time. All of it happens on one thread, so what is due waits while that is busy.
class process final : public caller {
public:
    process(std::size_t number, surroundings& world, machine_clock clock);
    ~process();

    void start();
    void crash();
    void freeze();
    void suspend();
    void wake_up(); // from either
    bool running() const noexcept { return subject_ != nullptr; }
    bool frozen() const noexcept override { return frozen_; }

    std::size_t number() const noexcept { return number_; }
    std::string name() const { return "process " + std::to_string(number_); }
    core::time_point now() const; // what its locks are decided by
    nanoseconds time_frozen() const noexcept { return time_frozen_; }
    nanoseconds suspended_until() const noexcept { return suspended_until_; } // the last time
    unsigned incarnation() const noexcept { return incarnation_; }
    nanoseconds longest_backlog() const noexcept { return loop_.longest_wait(); }
    core::duration patience(core::duration ttl) const { return subject_->patience(ttl); }

    // For its users; only while it is running and not frozen.
    struct wish {
        std::string_view resource;
        core::lease_params terms{};
        std::chrono::milliseconds wait{};
        bool once = false;
    };
    struct ticket {
        core::slot_id wait = 0;
        std::uint64_t tag = 0;
    };
    ticket acquire(user_of_locks& who, const wish& what);
    bool cancel(const ticket& t, bool only_if_unsent);
    bool release(user_of_locks& who, core::slot_id lease);
    void drop(core::slot_id lease);
    errc extend(core::slot_id lease);
    bool held(core::slot_id lease);
    void close();
    bool closed() const noexcept { return closed_; }

    // Runs something of a user's, when the process can; never after a crash.
    void later(nanoseconds delay, std::function<void()> action);

    // Nothing may be left when it has closed.
    void check_closed();

    // caller
    void on_open(stream_id stream) override;
    void on_bytes(stream_id stream, std::string_view bytes) override;
    void on_broken(stream_id stream, breakage how) override;
    void on_writable(stream_id stream) override;

private:
    struct arrival {
        core::time_point when{};
        std::size_t bytes = 0;
    };
    struct link {
        stream_id stream = 0; // none: closed
        bool open = false, full = false;
        std::string arrived;          // and was not read
        std::deque<arrival> arrivals; // of that
        std::size_t encoded = 0;      // bytes of output that have been paid for
    };
    struct kept_lease {
        user_of_locks* user = nullptr;
        core::time_point until = core::never; // as it was last told
    };

    core::connection& connection_of(std::size_t index);
    link* find(stream_id stream, std::size_t& index);
    void read(stream_id stream);
    void flush(std::size_t index);
    void pay_for_output();
    void settle();
    core::time_point heard_until(core::time_point at) const;
    bool follow(std::size_t index, core::time_point now);
    void perform(const core::effect& e);
    void report_leases();
    void schedule_turn();
    void turn();
    void arm_timer();
    void fire();
    void stop_everything();
    std::uint64_t global(core::slot_id lease) const;
    nanoseconds true_time(core::time_point when) const;

    const std::size_t number_;
    surroundings& world_;
    machine_clock clock_;
    std::unique_ptr<core::entropy> entropy_;
    std::unique_ptr<subject> subject_;
    std::vector<link> links_;
    processor loop_;

    std::map<std::uint64_t, user_of_locks*> operations_; // by tag
    std::map<core::slot_id, kept_lease> leases_;
    core::slot_id next_reported_ = 0;
    struct asked {
        std::string resource;
        core::lease_params terms{};
        nanoseconds when{};
    };
    std::map<std::uint64_t, asked> wishes_; // by tag

    std::uint64_t last_tag_ = 0;
    unsigned incarnation_ = 0;
    bool frozen_ = false, suspended_ = false, closed_ = false;
    nanoseconds frozen_since_{0}, time_frozen_{0}, suspended_until_ = nanoseconds::min() / 2;
    std::vector<std::function<void()>> delayed_;
    core::alarm alarm_;
    nanoseconds timer_fires_{0};
    std::uint64_t timer_number_ = 0;
    bool turn_scheduled_ = false;
    nanoseconds busy_since_{0};
    std::size_t fired_ = 0;
};

} // namespace holdfast::simulation
