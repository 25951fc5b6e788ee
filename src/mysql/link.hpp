#pragma once

#include "core/descriptor.hpp"
#include "mysql/hosts.hpp"
#include "sql/address_order.hpp"
#include "sql/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct st_mysql;
struct st_mysql_res;

namespace holdfast::mysql_store {

struct link_settings {
    std::vector<server_address> servers;
    std::string user, password, database, client_name;
    bool encrypts = false, accepts_any_certificate = false;
    std::string ca_file, certificate_file, key_file;
    core::duration connect_timeout{};
};

// What a connection of libmariadb reports.
class link_owner {
public:
    virtual void on_connected(core::time_point now) = 0;
    // One of the results of a query; commands without a table have none.
    virtual void on_result(const sql::result& table) = 0;
    virtual void on_error(unsigned number, const std::string& text) = 0;
    virtual void on_query_end(core::time_point now) = 0;
    // It was not made, or is lost: number and message are libmariadb's, or 0. Not reported after
    // close().
    virtual void on_lost(unsigned number, const std::string& text, core::time_point now) = 0;

    // Whether a query is to be sent, if none is under way.
    virtual bool has_query() const noexcept = 0;
    virtual std::optional<std::string> next_query(core::time_point now) = 0;

protected:
    ~link_owner() = default;
};

// A connection of libmariadb, without blocking. Decides nothing.
class link final : public core::descriptor {
public:
    // Both outlive it.
    link(const link_settings& settings, link_owner& owner);
    ~link();

    // Whether it has no connection, and begin() may be called.
    bool is_idle() const noexcept { return now_ == state::idle; }
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
    // The call of the library that has not ended.
    enum class call : std::uint8_t { none, connect, query, store_result, next_result };
    struct finish {
        void operator()(st_mysql* each) const noexcept;
    };

    int connect(core::time_point now);
    bool set_options(core::time_point now);
    void drop() noexcept;
    void follow(int waits_for, core::time_point now);
    int go_on(int events);
    int end_call(core::time_point now);
    int end_connect(core::time_point now);
    int end_query(core::time_point now);
    void take_result();
    void fail_query(core::time_point now);
    void notice_end(core::time_point now);
    void lose(core::time_point now);
    void lose(unsigned number, const std::string& text, core::time_point now);

    const link_settings& settings_;
    link_owner& owner_;
    std::size_t server_ = 0;
    core::time_point connect_by_{};
    sql::address_order order_;
    std::vector<std::string> addresses_; // that are not tried yet; the next one is the last
    std::string address_;                // used by the library
    std::unique_ptr<st_mysql, finish> connection_;
    state now_ = state::idle;
    call call_ = call::none;
    core::readiness wants_ = core::readiness::none;
    std::uint64_t incarnation_ = 0;
    std::string query_; // under way
    // What the call returns when it ends.
    st_mysql* connected_ = nullptr;
    int returned_ = 0;
    st_mysql_res* result_ = nullptr;
};

} // namespace holdfast::mysql_store
