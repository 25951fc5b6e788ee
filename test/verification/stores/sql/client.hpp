#pragma once

#include "sql/lock_core.hpp"
#include "verification/stores/client.hpp"
#include "verification/stores/sql/database_server.hpp"

#include <functional>
#include <string>

namespace holdfast::sql_simulation {

// A process that keeps its locks in a table of a database. `told`: its waiters, of their turn.
class client final : public store_simulation::client {
public:
    client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
        database_server& server, bool told, std::function<void()> on_executed);

    void begin() override;
    core::backend_core& store() noexcept override { return core_; }
    connection& link() noexcept { return *connection_; }

private:
    void serve(time_point now) override { connection_->flush(now); }
    void cut_off() override { connection_->end(); }
    void check() override;

    world& world_;
    database_server& server_;
    const std::string channel_;
    connection* const connection_; // the core owns it
    sql::lock_core core_;
};

} // namespace holdfast::sql_simulation
