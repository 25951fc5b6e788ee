#pragma once

#include "sql/lock_core.hpp"
#include "verification/stores/postgresql/database_server.hpp"
#include "verification/stores/referee.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::postgresql_simulation {

using store_simulation::referee;

// A process with the store of locks that ships, and a user for each resource: it asks, holds,
// renews and gives back, as the locker does.
class client {
public:
    client(world& w, database_server& server, referee& judge, int number, std::size_t resources,
        duration ttl, std::function<void()> on_executed);

    process& runs() noexcept { return process_; }
    connection& link() noexcept { return *connection_; }
    void crash();
    // From now on, users hold briefly and wait for ever; or do not ask again.
    void be_patient() noexcept;
    void stop() noexcept { stopping_ = true; }
    // How long the user that has waited longest has waited, where users wait in the queue.
    duration longest_wait() const;
    bool is_done() const;
    sql::lock_core& store() noexcept { return core_; }

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
    };

    void turn();
    void check_rows();
    void handle(const core::backend_event& e);
    void rest(user& u);
    void ask(user& u);
    void hold(user& u, const core::backend_event& e);
    void renew(user& u);
    void end(user& u);
    void lapse(user& u);
    void give_back(user& u);
    // In this process, after a while of true time, if the user has the same attempt or lease then.
    void later(user& u, duration delay, void (client::*what)(user&));
    void wake_later();

    world& world_;
    database_server& server_;
    referee& referee_;
    process process_;
    const std::string channel_;
    const core::claim_params terms_;
    connection* const connection_; // the core owns it
    sql::lock_core core_;
    std::vector<user> users_;
    std::uint64_t last_tag_ = 0;
    time_point wakes_at_ = core::never; // of the next planned event, in true time
    bool patient_ = false, stopping_ = false;
};

} // namespace holdfast::postgresql_simulation
