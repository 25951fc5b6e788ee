#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct pg_conn;   // of libpq
struct pg_result; // of libpq

// PostgreSQL for coroutines: libpq does not block, and Asio waits for its socket.
namespace flash_sale_web {

namespace asio = boost::asio;

/// A failed connection or statement, in the words of libpq or of the server.
struct database_error : std::runtime_error {
    using runtime_error::runtime_error;
};

using parameters = std::vector<std::string>;

/// As PostgreSQL reads an array.
std::string array_of(const std::vector<std::int64_t>& numbers);

/// The rows that a statement has returned.
class rows {
public:
    explicit rows(pg_result* taken) noexcept;
    std::size_t count() const noexcept;
    bool empty() const noexcept { return count() == 0; }
    /// Throws if it is no number.
    std::int64_t number(std::size_t row, std::size_t column) const;
    /// The server's message if it refused the statement, else empty.
    std::string refusal() const;

private:
    struct clear {
        void operator()(pg_result* each) const noexcept;
    };
    std::unique_ptr<pg_result, clear> result_;
};

/// One connection. One statement at a time.
class connection {
public:
    explicit connection(asio::any_io_executor executor);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// `where`: a connection string of libpq. Throws `database_error`.
    asio::awaitable<void> open(const std::string& where);

    /// Runs one statement. `values` are its parameters $1, $2 …, and must live until the end.
    /// Throws `database_error`. After a cancellation the connection is not `reusable()`.
    asio::awaitable<rows> query(const char* statement, const parameters& values);

    /// Open, with no statement and no transaction under way.
    bool reusable() const noexcept;

private:
    asio::awaitable<void> wait(asio::posix::stream_descriptor::wait_type what);
    asio::awaitable<pg_result*> next_result();
    [[noreturn]] void fail() const;

    struct finish {
        void operator()(pg_conn* each) const noexcept;
    };
    asio::posix::stream_descriptor socket_;
    std::unique_ptr<pg_conn, finish> connection_;
    bool busy_ = false;
};

/// Connections that are opened when they are needed, up to a limit. Beyond it borrowers wait.
class connection_pool {
    using slot = std::shared_ptr<connection>; // null: not opened
    using slots = asio::experimental::channel<void(boost::system::error_code, slot)>;

public:
    connection_pool(asio::any_io_executor executor, std::string where, std::size_t limit);

    /// A connection for the time that this object lives. It may outlive the pool, as a coroutine
    /// that is destroyed with its execution context does.
    class loan {
    public:
        loan(std::shared_ptr<slots> from, slot given) noexcept;
        loan(loan&& other) noexcept = default;
        loan& operator=(loan&&) = delete;
        ~loan();
        connection* operator->() const noexcept { return given_.get(); }

    private:
        friend connection_pool;
        std::shared_ptr<slots> from_;
        slot given_;
    };

    asio::awaitable<loan> borrow();

    /// Runs one statement, a transaction by itself, on any connection.
    asio::awaitable<rows> query(const char* statement, const parameters& values);

private:
    asio::any_io_executor executor_;
    std::string where_;
    std::shared_ptr<slots> free_;
};

} // namespace flash_sale_web
