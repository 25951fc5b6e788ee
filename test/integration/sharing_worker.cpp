// A process that uses a recipe again and again, until SIGTERM:
//
//     sharing_worker <recipe> <number> <journal> <ttl in ms> <work in ms> <url> ...
//
// <recipe> is "semaphore" (of two permits), "read_write_lock" (of which every third use is a
// writer's; with long work it is a reader's) or "election"; or "none": reads and writes without a
// lock, as a negative control of the test. What it holds, and when, is appended to the file
// <journal>; see journal_writer.hpp. The name of the resource there is the role: "permit",
// "reader", "writer" or "leader". Prints "done" at the end if all went well.

#include "integration/journal_writer.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using task = asio::awaitable<void>;

constexpr unsigned hung = 100; // seconds after which it is killed

bool stopping = false; // for work without a lock, which the locker does not stop

struct worker {
    std::string recipe, number, journal;
    std::chrono::milliseconds ttl, work;
    std::vector<std::string> urls;
};

task pause(steady::duration length)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

// Works under a lease, for as long as it is asked to and may.
template <class Lease>
task work_under(const worker& w, std::string role, Lease& held)
{
    journal_writer journal(w.journal, std::move(role), w.number);
    const auto from = steady::now();
    journal.held(from, held.valid_until());
    std::exception_ptr stopped;
    try {
        co_await pause(w.work);
    } catch (...) {
        stopped = std::current_exception();
    }
    const auto end = std::min(steady::now(), held.valid_until());
    journal.over(from, end, stopped ? "stopped" : "released");
    if (stopped)
        std::rethrow_exception(stopped);
}

task use_semaphore(const worker& w, locker& all, const lock_options& options)
{
    const semaphore permits(all, "permits", 2, options);
    auto body = [&w](lease& held) {
        return work_under(w, "permit", held);
    };
    for (;;)
        co_await permits.hold(body);
}

task use_read_write_lock(const worker& w, locker& all, const lock_options& options)
{
    const read_write_lock shared(all, "shared", options);
    auto read = [&w](shared_lease& held) {
        return work_under(w, "reader", held);
    };
    auto write = [&w](lease& held) {
        return work_under(w, "writer", held);
    };
    for (std::size_t i = 1;; ++i) {
        if (i % 3 == 0)
            co_await shared.hold(write);
        else
            co_await shared.hold_shared(read);
    }
}

task use_election(const worker& w, locker& all, const lock_options& options)
{
    election_options often;
    often.pause_min = 1ms;
    often.pause_max = 10ms;
    const election office(all, "office", options, often);
    auto body = [&w](lease& held) {
        return work_under(w, "leader", held);
    };
    for (;;)
        co_await office.run(body);
}

// In place of a lease.
struct no_lease {
    static steady::time_point valid_until() { return steady::time_point::max(); }
};

task use_nothing(const worker& w)
{
    no_lease none;
    for (std::size_t i = 1; !stopping; ++i) {
        auto turn = work_under(w, i % 3 == 0 ? "writer" : "reader", none);
        co_await std::move(turn);
    }
}

task use(const worker& w, locker& all)
{
    lock_options options;
    options.ttl = w.ttl;
    options.wait = forever;
    if (w.recipe == "semaphore")
        co_await use_semaphore(w, all, options);
    else if (w.recipe == "read_write_lock")
        co_await use_read_write_lock(w, all, options);
    else if (w.recipe == "election")
        co_await use_election(w, all, options);
    else
        co_await use_nothing(w);
}

void run(const worker& w)
{
    redlock_options options;
    options.node_timeout = 200ms; // long enough for a busy machine
    asio::io_context io;
    locker all(io.get_executor(), redlock({w.urls.begin(), w.urls.end()}, options));
    asio::signal_set signals(io, SIGTERM);
    signals.async_wait([&all](error_code, int) {
        stopping = true;
        all.drain(1s, [&all](error_code) { all.close([](error_code) {}); });
    });
    asio::co_spawn(io, use(w, all), [](const std::exception_ptr& error) {
        if (!error)
            return;
        try {
            std::rethrow_exception(error);
        } catch (const boost::system::system_error& e) {
            if (e.code() != errc::closed && e.code() != errc::lease_lost)
                throw;
        }
    });
    io.run();
}

} // namespace
} // namespace holdfast::test

int main(int argc, char** argv)
try {
    using namespace holdfast::test;
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto ms = [&words](std::size_t i) {
        return std::chrono::milliseconds(std::stoll(words.at(i)));
    };
    const worker w{
        words.at(0), words.at(1), words.at(2), ms(3), ms(4), {words.begin() + 5, words.end()}};
    ::alarm(hung);
    run(w);
    std::cout << "done" << std::endl;
} catch (const std::exception& e) {
    std::cerr << "sharing_worker: " << e.what() << '\n';
    return 1;
}
