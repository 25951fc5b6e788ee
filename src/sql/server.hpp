#pragma once

#include "core/member_record.hpp"
#include "core/rotation.hpp"
#include "sql/connection.hpp"
#include "sql/database.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sql {

struct server_settings {
    std::vector<std::string> names; // of the servers, for people
    core::duration connect_timeout{}, reconnect_min{}, reconnect_max{};
};

using make_connection = std::function<std::unique_ptr<connection>(connection_owner&)>;

// A database: one connection to one of its servers at a time. When it fails, the next one is tried
// at once; when all have failed, after a pause. Pauses grow, and are random.
class server final : public database, private connection_owner {
public:
    server(const server_settings& all, const make_connection& make, std::uint64_t jitter_seed);

    void serve(database_owner& owner) noexcept override { owner_ = &owner; }
    bool is_up() const noexcept override { return up_; }
    void send(const statement& what, core::time_point now) override;
    void ask(const question& what, core::time_point now) override;
    void fail(errc why, std::string reason, core::time_point now) override;
    std::string_view address() const noexcept override { return connection_->address(); }
    errc cut_off() const noexcept override { return up_ ? errc{} : rotation_.cut_off(); }
    core::time_point wake_at() const noexcept override;
    void wake(core::time_point now) override;
    void close(core::time_point now) override;
    std::span<core::descriptor* const> descriptors() noexcept override { return descriptors_; }
    void report_to(core::journal& observers) noexcept override { journal_ = &observers; }
    std::vector<node_stats> stats() const override;
    std::string name_of(std::size_t which) const override { return names_[which]; }

private:
    // connection_owner
    void on_ready(std::int64_t clock, core::time_point asked, core::time_point now) override;
    void on_answer(const answer& what, core::time_point now) override;
    void on_reply(const reply& what, core::time_point now) override;
    void on_failure(const failure& why, core::time_point now) override;
    void on_turn(std::string_view owner, token_block tokens, core::time_point now) override
    {
        owner_->on_turn(owner, tokens, now);
    }
    void on_waiters(std::string_view owner) override { owner_->on_waiters(owner); }
    void on_taken(std::string_view owner, std::string_view address, core::time_point now) override
    {
        owner_->on_taken(owner, address, now);
    }
    void on_told(std::string_view owner) override { owner_->on_told(owner); }
    bool has_statement() const noexcept override { return up_ && owner_->has_statement(); }
    void send_statement(core::time_point now) override { owner_->send_statement(now); }

    core::member_record& record() noexcept { return records_[rotation_.current()]; }
    void note_answer(core::time_point now);

    const std::vector<std::string> names_;
    const core::duration connect_timeout_;
    core::rotation rotation_;
    std::vector<core::member_record> records_;
    const std::unique_ptr<connection> connection_;
    std::array<core::descriptor*, 1> descriptors_;
    database_owner* owner_ = nullptr;
    core::journal* journal_ = nullptr;
    core::time_point ready_by_ = core::never; // while it connects
    core::time_point sent_{};                 // the statement or question under way
    bool active_ = false;                     // it has a connection, or makes one
    bool up_ = false;
};

} // namespace holdfast::sql
