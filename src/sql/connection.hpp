#pragma once

#include "core/descriptor.hpp"
#include "sql/exchange.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::sql {

// What a session with a server reports, each after the query has ended.
class session_owner {
public:
    // Greeted. `clock`: of the database, in microseconds since the epoch; it was read after
    // `asked`.
    virtual void on_ready(std::int64_t clock, core::time_point asked, core::time_point now) = 0;
    virtual void on_answer(const answer& what, core::time_point now) = 0;
    virtual void on_reply(const reply& what, core::time_point now) = 0;
    virtual void on_failure(const failure& why, core::time_point now) = 0;
    // As those of database_owner.
    virtual void on_turn(std::string_view owner, token_block tokens, core::time_point now) = 0;
    virtual void on_waiters(std::string_view owner) = 0;
    virtual void on_taken(
        std::string_view owner, std::string_view address, core::time_point now) = 0;
    virtual void on_told(std::string_view owner) = 0;

protected:
    ~session_owner() = default;
};

class connection_owner : public session_owner {
public:
    virtual bool has_statement() const noexcept = 0;
    // To be called if has_statement(), and the session is ready: it sends one, or asks a question.
    virtual void send_statement(core::time_point now) = 0;

protected:
    ~connection_owner() = default;
};

// A connection of a client library to one of the servers, and the session on it.
class connection {
public:
    virtual ~connection() = default;

    // Whether it is closed, and begin() may be called.
    virtual bool is_idle() const noexcept = 0;
    virtual void begin(std::size_t server) = 0;
    // It ends, and is idle a little later. Nothing is reported.
    virtual void end() noexcept = 0;

    // Precondition: the session is ready.
    virtual void send(const statement& what) = 0;
    virtual void ask(const question& what) = 0;
    // See database::address().
    virtual std::string_view address() const noexcept = 0;

    virtual core::descriptor& socket() noexcept = 0;
};

} // namespace holdfast::sql
