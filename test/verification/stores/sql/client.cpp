#include "verification/stores/sql/client.hpp"

#include <memory>
#include <utility>

namespace holdfast::sql_simulation {

client::client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
    database_server& server, bool told, std::function<void()> on_executed)
    : store_simulation::client(w, judge, p, {.clock_error = 0.003, .renewing = 0.5}),
      world_(w),
      server_(server),
      channel_("c" + std::to_string(p.number)),
      connection_(new connection(w, server, runs(), channel_, told)),
      core_({.about = {.name = "sql"}, .request_timeout = {}},
          std::unique_ptr<sql::database>(connection_), w.random.bits())
{
    connection_->on_turn_end = [this] {
        turn();
    };
    connection_->on_executed = std::move(on_executed);
}

void client::begin()
{
    store_simulation::client::begin();
    connection_->begin();
}

// A store that has nothing more to give back has nothing in the table. Only if the clock of the
// database is set back, a statement may be executed later than its client expects.
void client::check()
{
    if (!core_.cleanup().is_done() || server_.was_set())
        return;
    const std::int64_t clock = server_.clock();
    for (const auto& [name, row] : server_.model.rows) {
        bool left = has_made(row.owner) && row.expires_at > clock;
        for (const auto& place : row.waiters)
            left = left || (has_made(place.owner) && place.until > clock);
        if (left)
            world_.violation("a store has ended its clean-up, and a row is left: " + name);
    }
}

} // namespace holdfast::sql_simulation
