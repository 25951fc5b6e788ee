#pragma once

#include "core/alarm.hpp"
#include "verification/simulation/clocks.hpp"
#include "verification/simulation/departure.hpp"
#include "verification/simulation/network.hpp"
#include "verification/simulation/plan.hpp"
#include "verification/simulation/subject.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::simulation {

// The parts of the world that processes and their users share.
struct surroundings {
    schedule& time;
    dice& chance;
    network& net;
    referee& judge;
    const plan& settings;
    subject_maker make_subject = nullptr;
    std::function<void(const std::string&)> trace; // may be empty
    bool calm = false;                             // there are no faults any more
    bool winding_up = false;                       // users begin no new operations

    void note(const std::string& actor, const std::string& event) const
    {
        if (trace)
            trace(actor + " " + event);
    }
};

// Receives the effects of its operations.
class user_of_locks {
public:
    virtual void on_effect(const core::effect& e) = 0;

protected:
    ~user_of_locks() = default;
};

// A process with one locker: the I/O layer of the simulation. It does the same as the real one (one
// timer, one turn for all output, streams opened and closed as the connections want), in simulated
// time. Everything runs on one thread, so due work waits while the thread is busy.
class process final : public caller {
public:
    process(std::size_t number, surroundings& world, machine_clock clock);
    ~process();

    void start();
    void crash();
    void freeze();
    void suspend();
    void wake_up(); // after either
    bool running() const noexcept { return subject_ != nullptr; }
    bool frozen() const noexcept override { return frozen_; }

    std::size_t number() const noexcept { return number_; }
    std::string name() const { return "process " + std::to_string(number_); }
    core::time_point now() const; // by the clock that its locks use
    nanoseconds time_frozen() const noexcept { return time_frozen_; }
    nanoseconds suspended_until() const noexcept { return suspended_until_; } // the last time
    unsigned incarnation() const noexcept { return incarnation_; }
    nanoseconds longest_backlog() const noexcept { return loop_.longest_wait(); }
    core::duration patience(core::duration ttl) const { return subject_->patience(ttl); }

    // For its users. Precondition of all: it is running and not frozen.
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
    ticket acquire(user_of_locks& user, const wish& w);
    bool cancel(const ticket& t, bool only_if_unsent);
    bool release(user_of_locks& user, core::slot_id lease);
    void drop(core::slot_id lease);
    errc extend(core::slot_id lease);
    bool held(core::slot_id lease);
    // Drains its locker, then closes it. `closed`: called when that is done.
    void depart(core::duration limit, std::function<void()> closed);
    bool departing() const noexcept { return departure_.begun(); }
    void drain(core::duration limit);
    void close();
    bool closed() const noexcept { return closed_; }
    bool has_output() const; // for open connections

    // Runs a user's action after the delay, once the process can; never after a crash.
    void later(nanoseconds delay, std::function<void()> action);

    // Judges that nothing is left open after close().
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
        std::string arrived;          // bytes not yet read
        std::deque<arrival> arrivals; // of these bytes
        std::size_t encoded = 0;      // bytes of output whose cost has been spent
    };
    struct kept_lease {
        user_of_locks* user = nullptr;
        core::time_point until = core::never; // as last reported to the referee
    };

    core::connection& connection_of(std::size_t index) const;
    link* find(stream_id stream, std::size_t& index);
    void read(stream_id stream);
    void flush(std::size_t index);
    void pay_for_output();
    void settle();
    core::time_point heard_until(core::time_point at) const;
    bool follow(std::size_t index, core::time_point now);
    void perform(const core::effect& e);
    void report_leases();
    void check_drained();
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
    departure departure_;
    core::alarm alarm_;
    nanoseconds timer_fires_{0};
    std::uint64_t timer_number_ = 0;
    bool turn_scheduled_ = false;
    nanoseconds busy_since_{0};
    std::size_t fired_ = 0;
};

} // namespace holdfast::simulation
