#pragma once

#include "core/descriptor.hpp"
#include "postgresql/conninfo.hpp"
#include "postgresql/session.hpp"
#include "sql/address_order.hpp"
#include "sql/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct pg_conn;

namespace holdfast::postgresql_store {

// What a connection of libpq reports.
class link_owner {
public:
    virtual void on_connected(int process, core::time_point now) = 0;
    virtual void on_result(const sql::result& table) = 0;
    virtual void on_error(std::string_view state, std::string text) = 0;
    virtual void on_query_end(core::time_point now) = 0;
    virtual void on_notification(std::string_view text, core::time_point now) = 0;
    // It was not made, or is lost: `message` is libpq's. Not reported after close().
    virtual void on_lost(std::string_view message, core::time_point now) = 0;

    // Whether a query is to be sent, if none is under way.
    virtual bool has_query() const noexcept = 0;
    virtual std::optional<query> next_query(core::time_point now) = 0;

protected:
    ~link_owner() = default;
};

// A connection of libpq, without blocking. Decides nothing.
class link final : public core::descriptor {
public:
    // Both outlive it.
    link(const connection_string& settings, link_owner& owner);
    ~link();

    // Whether it has no connection, and begin() may be called.
    bool is_idle() const noexcept { return now_ == state::idle; }
    bool is_connected() const noexcept { return now_ == state::connected; }
    void begin(std::size_t server);
    // The connection ends. It is idle a little later.
    void close() noexcept;

    // core::descriptor
    const core::address& target() const noexcept override;
    bool wants_open() const noexcept override;
    void open(std::span<const std::string> addresses, core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    int handle() const noexcept override;
    std::uint64_t incarnation() const noexcept override { return incarnation_; }
    core::readiness wants() const noexcept override { return wants_; }
    void ready(core::readiness what, core::time_point now) override;
    bool has_output() const noexcept override;
    void flush(core::time_point now) override;

private:
    enum class state : std::uint8_t {
        idle,
        wanted, // its name is looked up
        connecting,
        connected,
        closing, // until the I/O layer has seen it
    };
    struct finish {
        void operator()(pg_conn* each) const noexcept;
    };

    void connect_further(core::time_point now);
    void read(core::time_point now);
    void take_results(core::time_point now);
    void take_notifications(core::time_point now);
    void write(core::time_point now);
    void send(const query& what, core::time_point now);
    void lose(core::time_point now);
    void lose(const std::string& message, core::time_point now);

    const connection_string& settings_;
    link_owner& owner_;
    std::size_t server_ = 0;
    sql::address_order order_;
    std::unique_ptr<pg_conn, finish> connection_;
    state now_ = state::idle;
    core::readiness wants_ = core::readiness::none;
    std::uint64_t incarnation_ = 0;
    bool busy_ = false; // a query is under way
};

} // namespace holdfast::postgresql_store
