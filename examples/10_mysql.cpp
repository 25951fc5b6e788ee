// Locks in MariaDB, and a transaction that no other holder's can overlap.
//
//     10_mysql HOST:PORT USER DATABASE
//
// The password is in the variable MYSQL_PWD, if there is one. Makes the tables `holdfast_locks` and
// `holdfast_example_stock` when they are missing. Each run sells one of ten.

#include <holdfast/holdfast.hpp>
#include <holdfast/mysql.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <mysql.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio = boost::asio;

// A connection of your own. To keep the example short, it blocks.
class database {
public:
    explicit database(const holdfast::mysql_options& where) : connection_(::mysql_init(nullptr))
    {
        const std::string& host = where.hosts.front();
        const auto colon = host.rfind(':');
        const auto port = colon == host.npos ? 3306 : std::stoi(host.substr(colon + 1));
        if (::mysql_real_connect(connection_.get(), host.substr(0, colon).c_str(),
                where.user.c_str(), where.password.c_str(), where.database.c_str(),
                static_cast<unsigned>(port), nullptr, 0) == nullptr)
            throw std::runtime_error(::mysql_error(connection_.get()));
    }

    // The first value of the result; empty if there is none.
    std::string run(const std::string& statement)
    {
        if (::mysql_real_query(connection_.get(), statement.data(), statement.size()) != 0)
            throw std::runtime_error(::mysql_error(connection_.get()));
        const std::unique_ptr<MYSQL_RES, finish> found(::mysql_store_result(connection_.get()));
        const MYSQL_ROW row = found ? ::mysql_fetch_row(found.get()) : nullptr;
        return row != nullptr && row[0] != nullptr ? row[0] : "";
    }

    std::uint64_t changed() { return ::mysql_affected_rows(connection_.get()); }

    void roll_back() noexcept { ::mysql_rollback(connection_.get()); }

private:
    struct finish {
        void operator()(MYSQL* each) const noexcept { ::mysql_close(each); }
        void operator()(MYSQL_RES* each) const noexcept { ::mysql_free_result(each); }
    };
    std::unique_ptr<MYSQL, finish> connection_;
};

// The guard with its parameters in the text: they are letters and digits.
std::string in_one_text(const holdfast::mysql_guard& guard)
{
    std::string text;
    auto next = guard.parameters.begin();
    for (const char c : guard.statement) {
        if (c == '?')
            text += "'" + *next++ + "'";
        else
            text += c;
    }
    return text;
}

// Its transaction ends on every path before the lease is released.
void sell_one(database& shop, const holdfast::lease& lease)
try {
    shop.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED"); // of the next one
    shop.run("START TRANSACTION");
    // From here to COMMIT no other process can be granted the lock, even if this one stands still
    // and its lease ends.
    if (shop.run(in_one_text(holdfast::make_mysql_guard(lease))).empty())
        throw std::runtime_error("the lease is over");
    shop.run("UPDATE holdfast_example_stock SET left_over = left_over - 1 WHERE left_over > 0");
    const bool sold = shop.changed() == 1;
    const std::string left = shop.run("SELECT left_over FROM holdfast_example_stock");
    shop.run("COMMIT");
    if (sold)
        std::cout << "sold one, " << left << " left, with token " << lease.fence().value() << '\n';
    else
        std::cout << "sold out\n";
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
    if (argc != 4)
        throw std::runtime_error("usage: 10_mysql HOST:PORT USER DATABASE");
    holdfast::mysql_options options;
    options.hosts = {argv[1]};
    options.user = argv[2];
    options.database = argv[3];
    if (const char* const password = std::getenv("MYSQL_PWD"))
        options.password = password;
    options.create_table = true; // in production an administrator makes it

    database shop(options);
    shop.run("CREATE TABLE IF NOT EXISTS holdfast_example_stock "
             "(id int PRIMARY KEY, left_over int NOT NULL)");
    shop.run("INSERT IGNORE INTO holdfast_example_stock VALUES (1, 10)");

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::mysql(options));
    asio::co_spawn(io, run(locker, shop), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error); // out of io.run()
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
