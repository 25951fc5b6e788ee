#pragma once

#include "core/descriptor.hpp"
#include "core/journal.hpp"
#include "sql/exchange.hpp"

#include <holdfast/stats.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sql {

// The reason for callers, if the database cannot be asked for this one.
inline errc reason_or_unreachable(errc why) noexcept
{
    return why == errc{} || why == errc::no_reply ? errc::unreachable : why;
}

// What a database reports.
class database_owner {
public:
    // Statements can be sent. `clock`: of the database now, in microseconds since the epoch; it was
    // read after `asked`.
    virtual void on_up(std::int64_t clock, core::time_point asked, core::time_point now) = 0;
    // The connection is lost. The statement under way may have been executed, or may still be.
    virtual void on_down(core::time_point now) = 0;
    // All servers have failed, one after the other; the last one for this reason.
    virtual void on_cut_off(errc why, core::time_point now) = 0;

    virtual void on_answer(const answer& what, core::time_point now) = 0;
    virtual void on_reply(const reply& what, core::time_point now) = 0;
    // The statement or question under way is over, and the connection can be used. It was not
    // executed; if it is to be made again `later`, or is refused, perhaps it was.
    virtual void on_failure(const failure& why, core::time_point now) = 0;
    // A waiting owner has been given the resource.
    virtual void on_turn(std::string_view owner, token_block tokens, core::time_point now) = 0;
    // Others wait for the resource of an owner, whose name asks for that.
    virtual void on_waiters(std::string_view owner) = 0;
    // The resource of an owner was taken away. The locker at `address` wants to know that it is
    // told; none may.
    virtual void on_taken(
        std::string_view owner, std::string_view address, core::time_point now) = 0;
    // An owner is told that its resource was taken.
    virtual void on_told(std::string_view owner) = 0;

    virtual bool has_statement() const noexcept = 0;
    // To be called if has_statement(), and none is under way: sends one, or asks a question.
    virtual void send_statement(core::time_point now) = 0;

protected:
    ~database_owner() = default;
};

// A database with the table of locks, over one connection, to one of its servers. Speaks its
// dialect. One statement or question is under way at a time; what is wanted meanwhile gathers.
class database {
public:
    virtual ~database() = default;

    // It lives as long as other calls are made. To be called once, before anything else.
    virtual void serve(database_owner& owner) noexcept = 0;

    virtual bool is_up() const noexcept = 0;
    // Precondition: is_up(), and none is under way.
    virtual void send(const statement& what, core::time_point now) = 0;
    virtual void ask(const question& what, core::time_point now) = 0;
    // The statement or question under way has no answer in time: another connection.
    virtual void fail(errc why, std::string reason, core::time_point now) = 0;

    // Stands behind the @ of each owner, which is told about its turn. Empty: nobody is told.
    virtual std::string_view address() const noexcept = 0;

    // Why no server is likely to answer now; none if one may.
    virtual errc cut_off() const noexcept = 0;

    virtual core::time_point wake_at() const noexcept = 0;
    virtual void wake(core::time_point now) = 0;
    virtual void close(core::time_point now) = 0;
    virtual std::span<core::descriptor* const> descriptors() noexcept { return {}; }

    virtual void report_to(core::journal& observers) noexcept = 0;
    virtual std::vector<node_stats> stats() const = 0;
    virtual std::string name_of(std::size_t server) const = 0;
};

} // namespace holdfast::sql
