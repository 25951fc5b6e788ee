// A process that holds a lock until its lease is lost, for the tests:
//
//     lock_holder <resource> <ttl in ms> <url> ...
//
// While it holds the lock it prints, line by line, the end of the validity of its lease, in
// nanoseconds of the monotonic clock, which all processes of a machine share. SIGTERM ends it: it
// waits no longer, or gives the lock back.

#include <holdfast/holdfast.hpp>
#ifdef HOLDFAST_WITH_ETCD
#include <holdfast/etcd.hpp>
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
#include <holdfast/postgresql.hpp>
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <holdfast/zookeeper.hpp>
#endif
#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/mysql.hpp>
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;

namespace {

asio::awaitable<void> hold_until_lost(holdfast::locker& locker, holdfast::lock lock)
{
    holdfast::lease held = co_await lock.acquire(asio::use_awaitable);
    asio::steady_timer timer(lock.get_executor());
    while (held.held()) {
        std::cout << held.valid_until().time_since_epoch().count() << std::endl;
        timer.expires_after(std::chrono::milliseconds(5));
        co_await timer.async_wait(asio::use_awaitable);
    }
    held = holdfast::lease();
    co_await locker.close(asio::use_awaitable);
}

// Whether it was an acquire that has ended with its locker.
bool was_asked_to_end(const std::exception_ptr& error)
{
    try {
        std::rethrow_exception(error);
    } catch (const boost::system::system_error& e) {
        return e.code() == holdfast::errc::closed;
    } catch (...) {
        return false;
    }
}

holdfast::backend store_of(
    const std::vector<std::string>& urls, [[maybe_unused]] std::chrono::milliseconds ttl)
{
#ifdef HOLDFAST_WITH_ETCD
    if (urls.at(0).starts_with("http"))
        return holdfast::etcd(urls);
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
    if (urls.at(0).starts_with("postgresql"))
        return holdfast::postgresql(urls.at(0), {.create_table = true});
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
    if (urls.at(0).starts_with("zookeeper"))
        return holdfast::zookeeper(urls.at(0), {.session_timeout = ttl});
#endif
#ifdef HOLDFAST_WITH_MYSQL
    if (urls.at(0).starts_with("mysql:")) { // and the host: as root, in the database `shop`
        holdfast::mysql_options options;
        options.hosts = {urls.at(0).substr(6)};
        options.user = "root";
        options.database = "shop";
        options.create_table = true;
        return holdfast::mysql(options);
    }
#endif
    return holdfast::redlock({urls.begin(), urls.end()});
}

} // namespace

int main(int argc, char** argv)
try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::vector<std::string> urls(words.begin() + 2, words.end());
    holdfast::lock_options options;
    options.ttl = std::chrono::milliseconds(std::stoi(words.at(1)));

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), store_of(urls, options.ttl));
    asio::signal_set end(io, SIGTERM);
    end.async_wait([&](const boost::system::error_code& ec, int) {
        if (!ec)
            locker.close(asio::detached);
    });
    asio::co_spawn(io, hold_until_lost(locker, holdfast::lock(locker, words.at(0), options)),
        [&](const std::exception_ptr& error) {
            end.cancel();
            if (error && !was_asked_to_end(error))
                std::rethrow_exception(error);
        });
    io.run();
} catch (const std::exception& e) {
    std::cerr << "lock_holder: " << e.what() << '\n';
    return 1;
}
