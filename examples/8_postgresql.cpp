// Locks in PostgreSQL, and a transaction that no other holder's can overlap.
//
//     8_postgresql postgresql://user@127.0.0.1/database
//
// Makes the tables `holdfast_locks` and `holdfast_example_stock` when they are missing. Each run
// sells one of ten.

#include <holdfast/holdfast.hpp>
#include <holdfast/postgresql.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <libpq-fe.h>

#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;

// A connection of your own. To keep the example short, it blocks.
class database {
public:
    explicit database(const std::string& where) : connection_(::PQconnectdb(where.c_str()))
    {
        ::PQsetNoticeProcessor(
            connection_.get(), [](void*, const char*) {}, nullptr);
    }

    // The first value of the result; empty if there is none.
    std::string run(const std::string& statement, const std::vector<std::string>& parameters = {})
    {
        std::vector<const char*> values;
        for (const std::string& each : parameters)
            values.push_back(each.c_str());
        const std::unique_ptr<PGresult, finish> found(
            ::PQexecParams(connection_.get(), statement.c_str(), static_cast<int>(values.size()),
                nullptr, values.data(), nullptr, nullptr, 0));
        const auto status = ::PQresultStatus(found.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            throw std::runtime_error(::PQerrorMessage(connection_.get()));
        return ::PQntuples(found.get()) > 0 ? ::PQgetvalue(found.get(), 0, 0) : "";
    }

    void roll_back() noexcept { ::PQclear(::PQexec(connection_.get(), "ROLLBACK")); }

private:
    struct finish {
        void operator()(PGconn* each) const noexcept { ::PQfinish(each); }
        void operator()(PGresult* each) const noexcept { ::PQclear(each); }
    };
    std::unique_ptr<PGconn, finish> connection_;
};

// Its transaction ends on every path before the lease is released.
void sell_one(database& shop, const holdfast::lease& lease)
try {
    const holdfast::postgresql_guard guard = holdfast::guard(lease);
    shop.run("BEGIN");
    // From here to COMMIT no other process can be granted the lock, even if this one stands still
    // and its lease ends.
    if (shop.run(guard.statement, guard.parameters).empty())
        throw std::runtime_error("the lease is over");
    const std::string left =
        shop.run("UPDATE holdfast_example_stock SET left_over = left_over - 1 WHERE left_over > 0 "
                 "RETURNING left_over");
    shop.run("COMMIT");
    if (left.empty())
        std::cout << "sold out\n";
    else
        std::cout << "sold one, " << left << " left, with token " << lease.fence().value() << '\n';
} catch (...) {
    shop.roll_back();
    throw;
}

asio::awaitable<void> run(holdfast::locker& locker, database& shop)
{
    holdfast::lock lock(locker, "stock:A");
    auto body = [&shop](holdfast::lease& lease) -> asio::awaitable<void> {
        sell_one(shop, lease);
        co_return;
    };
    auto held = lock.hold(body); // releases on every path
    co_await std::move(held);
    co_await locker.close();
}

int main(int argc, char** argv)
try {
    if (argc != 2)
        throw std::runtime_error("usage: 8_postgresql postgresql://user@host/database");
    const std::string where = argv[1];
    database shop(where);
    shop.run("CREATE TABLE IF NOT EXISTS holdfast_example_stock (left_over int NOT NULL)");
    shop.run("INSERT INTO holdfast_example_stock SELECT 10 "
             "WHERE NOT EXISTS (SELECT 1 FROM holdfast_example_stock)");

    holdfast::postgresql_options options;
    options.create_table = true; // in production an administrator makes it
    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::postgresql(where, options));
    asio::co_spawn(io, run(locker, shop), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error); // out of io.run()
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
