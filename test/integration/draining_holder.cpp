// A process that ends as a service does: on SIGTERM it drains its locker.
//
//     draining_holder <resource> <ttl in ms> <deadline in ms> <url> ...
//
// It works under the lock until SIGUSR1, while another of its coroutines waits for the same lock.
// Each line of its output is an event.

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace asio = boost::asio;

namespace {

void say(std::string_view what)
{
    std::cout << what << std::endl;
}

void rethrow(const std::exception_ptr& error)
{
    if (error)
        std::rethrow_exception(error);
}

asio::awaitable<void> wait_for_it(holdfast::lock lock)
{
    holdfast::error_code why;
    auto token = asio::redirect_error(asio::use_awaitable, why);
    const holdfast::lease none = co_await lock.acquire(holdfast::forever, std::move(token));
    say("waiter: " + why.message());
}

// The other coroutine waits from the moment at which this one holds the lock.
asio::awaitable<void> work(const holdfast::lock& lock)
{
    asio::signal_set done(lock.get_executor(), SIGUSR1);
    asio::co_spawn(lock.get_executor(), wait_for_it(lock), rethrow);
    say("working");
    try {
        co_await done.async_wait(asio::use_awaitable);
        say("worked");
    } catch (const boost::system::system_error&) {
        say("stopped");
        throw;
    }
}

void report(const std::exception_ptr& error)
{
    try {
        rethrow(error);
        say("hold: done");
    } catch (const boost::system::system_error& e) {
        say("hold: " + e.code().message());
    }
}

asio::awaitable<void> end_on_request(holdfast::locker& locker, std::chrono::milliseconds deadline)
{
    asio::signal_set asked(locker.get_executor(), SIGTERM);
    co_await asked.async_wait(asio::use_awaitable);
    co_await locker.drain(deadline);
    say("drained");
    co_await locker.close();
    say("closed");
}

} // namespace

int main(int argc, char** argv)
try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::vector<holdfast::endpoint> nodes(words.begin() + 3, words.end());
    holdfast::lock_options options;
    options.ttl = std::chrono::milliseconds(std::stoi(words.at(1)));
    const auto deadline = std::chrono::milliseconds(std::stoi(words.at(2)));

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes));
    asio::co_spawn(io, end_on_request(locker, deadline), rethrow);
    const holdfast::lock lock(locker, words.at(0), options);
    auto body = [&lock](holdfast::lease&) {
        return work(lock);
    };
    lock.hold(body, report);
    io.run();
} catch (const std::exception& e) {
    std::cerr << "draining_holder: " << e.what() << '\n';
    return 1;
}
