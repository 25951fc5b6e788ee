#pragma once

#include "mysql/link.hpp"
#include "mysql/session.hpp"
#include "mysql/statements.hpp"
#include "sql/connection.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::mysql_store {

struct settings {
    link_settings link;
    session_settings session;
};

// A connection of libmariadb, and the session on it.
class connection final : public sql::connection, private link_owner {
public:
    // The owner outlives it.
    connection(std::shared_ptr<const settings> all, sql::connection_owner& owner);

    bool is_idle() const noexcept override { return link_.is_idle(); }
    void begin(std::size_t server) override { link_.begin(server); }
    void end() noexcept override;
    void send(const sql::statement& what) override { session_.send(what); }
    void ask(const sql::question& what) override { session_.ask(what); }
    // Nobody is told anything.
    std::string_view address() const noexcept override { return {}; }
    core::descriptor& socket() noexcept override { return link_; }

private:
    // link_owner
    void on_connected(core::time_point) override { session_.begin(); }
    void on_result(const sql::result& table) override { session_.on_result(table); }
    void on_error(unsigned number, const std::string& text) override
    {
        session_.on_error(number, text);
    }
    void on_query_end(core::time_point now) override { session_.on_end(now); }
    void on_lost(unsigned number, const std::string& text, core::time_point now) override;
    bool has_query() const noexcept override;
    std::optional<std::string> next_query(core::time_point now) override;

    const std::shared_ptr<const settings> settings_;
    const statements texts_;
    sql::connection_owner& owner_;
    link link_;
    session session_;
};

} // namespace holdfast::mysql_store
