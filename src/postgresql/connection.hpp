#pragma once

#include "postgresql/conninfo.hpp"
#include "postgresql/link.hpp"
#include "postgresql/session.hpp"
#include "postgresql/statements.hpp"
#include "sql/connection.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::postgresql_store {

struct settings {
    connection_string connection;
    session_settings session; // but for the channel
};

// A connection of libpq, and the session on it.
class connection final : public sql::connection, private link_owner {
public:
    // The owner outlives it. Other seeds make other channels.
    connection(
        std::shared_ptr<const settings> all, std::uint64_t seed, sql::connection_owner& owner);

    bool is_idle() const noexcept override { return link_.is_idle(); }
    void begin(std::size_t server) override;
    void end() noexcept override;
    void send(const sql::statement& what) override { session_.send(what); }
    void ask(const sql::question& what) override { session_.ask(what); }
    std::string_view address() const noexcept override;
    core::descriptor& socket() noexcept override { return link_; }

private:
    // link_owner
    void on_connected(int process, core::time_point) override;
    void on_result(const sql::result& table) override { session_.on_result(table); }
    void on_error(std::string_view state, std::string text) override
    {
        session_.on_error(state, std::move(text));
    }
    void on_query_end(core::time_point now) override { session_.on_end(now); }
    void on_notification(std::string_view text, core::time_point now) override
    {
        session_.on_notification(text, now);
    }
    void on_lost(std::string_view message, core::time_point now) override;
    bool has_query() const noexcept override;
    std::optional<query> next_query(core::time_point now) override;

    const std::shared_ptr<const settings> settings_;
    const statements texts_;
    session_settings session_settings_;
    sql::connection_owner& owner_;
    link link_;
    session session_;
    std::size_t server_ = 0;
    // Of connections that were given up during a query, by server; the latest ones.
    std::vector<std::vector<server_process>> left_;
};

} // namespace holdfast::postgresql_store
