#pragma once

#include "core/member_record.hpp"
#include "core/rotation.hpp"
#include "postgresql/conninfo.hpp"
#include "postgresql/link.hpp"
#include "postgresql/session.hpp"
#include "postgresql/statements.hpp"
#include "sql/database.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::postgresql_store {

struct settings {
    connection_string connection;
    session_settings session; // but for the channel
    core::duration connect_timeout{}, reconnect_min{}, reconnect_max{};
    core::duration request_timeout{}; // 0: from the ttl
};

// A PostgreSQL database: one connection to one of its servers at a time. When it fails, the next
// one is tried at once; when all have failed, after a pause. Pauses grow, and are random.
class server final : public sql::database, private link_owner, private session_owner {
public:
    server(std::shared_ptr<const settings> all, std::uint64_t jitter_seed);

    void serve(sql::database_owner& owner) noexcept override { owner_ = &owner; }
    bool is_up() const noexcept override { return up_; }
    void send(const sql::statement& what, core::time_point now) override;
    void ask(const sql::question& what, core::time_point now) override;
    void fail(errc why, std::string reason, core::time_point now) override;
    std::string_view address() const noexcept override;
    errc cut_off() const noexcept override { return up_ ? errc{} : rotation_.cut_off(); }
    core::time_point wake_at() const noexcept override;
    void wake(core::time_point now) override;
    void close(core::time_point now) override;
    std::span<core::descriptor* const> descriptors() noexcept override { return descriptors_; }
    void report_to(core::journal& observers) noexcept override { journal_ = &observers; }
    std::vector<node_stats> stats() const override;
    std::string name_of(std::size_t which) const override
    {
        return settings_->connection.servers[which].name;
    }

private:
    // link_owner
    void on_connected(int process, core::time_point now) override;
    void on_result(const result& table) override { session_.on_result(table); }
    void on_error(std::string_view state, std::string text) override;
    void on_query_end(core::time_point now) override { session_.on_end(now); }
    void on_notification(std::string_view text, core::time_point now) override
    {
        session_.on_notification(text, now);
    }
    void on_lost(std::string_view message, core::time_point now) override;
    bool has_query() const noexcept override;
    std::optional<query> next_query(core::time_point now) override;

    // session_owner
    void on_ready(std::int64_t clock, core::time_point asked, core::time_point now) override;
    void on_answer(const sql::answer& what, core::time_point now) override;
    void on_reply(const sql::reply& what, core::time_point now) override;
    void on_failure(const sql::failure& why, core::time_point now) override;
    void on_turn(std::string_view owner, sql::token_block tokens, core::time_point now) override
    {
        owner_->on_turn(owner, tokens, now);
    }
    void on_waiters(std::string_view owner) override { owner_->on_waiters(owner); }
    void on_taken(std::string_view owner, std::string_view address, core::time_point now) override
    {
        owner_->on_taken(owner, address, now);
    }
    void on_told(std::string_view owner) override { owner_->on_told(owner); }

    core::member_record& record() noexcept { return records_[rotation_.current()]; }
    void note_answer(core::time_point now);

    const std::shared_ptr<const settings> settings_;
    const statements texts_;
    session_settings session_settings_;
    core::rotation rotation_;
    std::vector<core::member_record> records_;
    link link_;
    session session_;
    std::array<core::descriptor*, 1> descriptors_{&link_};
    sql::database_owner* owner_ = nullptr;
    core::journal* journal_ = nullptr;
    core::time_point ready_by_ = core::never; // while it connects
    core::time_point sent_{};                 // the statement or question under way
    bool active_ = false;                     // it has a connection, or makes one
    bool up_ = false;
};

} // namespace holdfast::postgresql_store
