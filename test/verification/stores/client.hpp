#pragma once

#include "core/backend.hpp"
#include "verification/stores/referee.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::store_simulation {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;

struct client_params {
    int number = 0;            // of the process
    std::size_t resources = 1; // one user each
    duration ttl{};
};

// What differs from store to store.
struct client_habits {
    double clock_error = 0;  // the clock of the process is up to so much too fast or too slow
    double slow_clocks = 0;  // probability that it is as slow as that
    double renewing = 1;     // probability that a lease is renewed; it is 1 when faults are over
    double lingering = 0;    // that it is held until others wait, or for long
    double stubbornness = 0; // that it is held for a ttl at least, while there are faults
    std::size_t most_transfers = 1; // of a lease at once
};

// A process with the store of locks that ships, and a user for each resource: it asks, holds,
// renews and gives back, as the locker does. The derived class has the store, and does what the
// I/O layer does for it. All calls to a process go through process::deliver().
class client {
public:
    client(world& w, referee& judge, const client_params& p, const client_habits& h);
    virtual ~client() = default;
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // To be called once, before anything happens.
    virtual void begin();
    void crash();
    // From now on, users hold briefly and wait for ever; or do not ask again.
    void be_patient() noexcept;
    void stop() noexcept { stopping_ = true; }
    // Gives back what is kept for later claims, unless it has retired. Precondition: is_done().
    void close();
    // As a locker does that closes: attempts end, leases stay in the store until their ttl is over.
    void retire();

    process& runs() noexcept { return process_; }
    // How long the user that has waited longest has waited, where users wait in the queue.
    duration longest_wait() const;
    bool is_done() const;
    bool holds_something() const;
    virtual core::backend_core& store() noexcept = 0;

protected:
    // What a loop of the engine does: the store decides, and its connections are served. To be
    // called in the process, after each event of a connection.
    void turn();
    // Whether the owner token was made by this process.
    bool has_made(std::string_view token) const;

private:
    enum class stage : std::uint8_t { rests, asks, holds, releases };
    struct user {
        std::string resource;
        stage now = stage::rests;
        core::claim_id claim = 0;
        std::uint64_t tag = 0;
        time_point wants_since = core::never; // a lease, in true time
        time_point until{};                   // of the lease, by the clock of the process
        referee::place belief{};
        bool lingers = false;
    };

    // Opens and closes the connections as the store wants, and sends what has gathered.
    virtual void serve(time_point now) = 0;
    // The process has crashed: nothing of it is sent any more.
    virtual void cut_off() = 0;
    // Reports what the world shows to be wrong after a turn.
    virtual void check() {}

    core::owner_token fresh_token(std::uint64_t tag);
    void handle_events();
    void handle(const core::backend_event& e);
    void rest(user& u);
    void ask(user& u);
    void hold(user& u, const core::backend_event& e);
    void renew(user& u);
    void transfer(user& u);
    void end(user& u);
    void lapse(user& u);
    void give_back(user& u);
    // In this process, after a while of true time, if the user has the same attempt or lease then.
    void later(user& u, duration delay, void (client::*what)(user&));
    void wake_later();

    world& world_;
    referee& referee_;
    process process_;
    const std::string token_start_; // of the tokens of this process, after their first letter
    const double renewing_, lingering_, stubbornness_;
    const std::size_t most_transfers_;
    const core::claim_params terms_;
    std::vector<user> users_;
    std::uint64_t last_tag_ = 0;
    time_point wakes_at_ = core::never; // of the next planned event, in true time
    bool patient_ = false, stopping_ = false;
    bool retired_ = false; // or closed
    bool retires_ = false; // its connections are still to be closed
};

} // namespace holdfast::store_simulation
