// A process that repeatedly acquires a lock, works, and releases it, until SIGTERM:
//
//     lock_worker <lock> <holder> <journal> <number> <resource> <ttl in ms> <guard in ms>
//                 <work in ms> <url> ...
//
// <lock> is "holdfast" or one of the wrong locks. The work is to add one to the number in the file
// <number>: the number is read at the beginning of the work. It is written at the end of the work
// if the lock is still held. Events are appended to the file <journal>, with times in nanoseconds
// of the monotonic clock, which all processes of a machine share:
//
//     held <resource> <holder> <from> <valid until>      repeated after each renewal
//     over <resource> <holder> <from> <until> <why>      "released", "lost", or "expired": noticed
//                                                        only by the clock
//     wrote <number>
//     failed <when> <value of errc> <reasons of the nodes>
//
// <until> is the first moment at which the worker knew that the hold was over. Prints "started" at
// the beginning, and "done" at the end if all went well.

#include "integration/journal_writer.hpp"
#include "integration/wrong_lock.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto no_throw = asio::experimental::as_tuple(asio::use_awaitable);
constexpr auto tick = 2ms;     // how often the worker checks its lock
constexpr unsigned hung = 100; // seconds after which it is killed

volatile std::sig_atomic_t stopping = 0;

struct worker {
    std::string lock;
    journal_writer journal;
    number_file number;
    std::chrono::milliseconds ttl, guard, work;
    std::vector<std::string> urls;
};

asio::awaitable<void> pause(steady::duration length)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> work_under(worker& w, lease held)
{
    const auto from = steady::now();
    auto valid_until = held.valid_until();
    w.journal.held(from, valid_until);
    const auto lost = std::make_shared<steady::time_point>(steady::time_point::max());
    held.lost([lost](error_code ec) {
        if (ec == errc::lease_lost)
            *lost = steady::now();
    });
    const auto told = [&lost] {
        return *lost != steady::time_point::max();
    };

    const long number = w.number.read();
    do {
        co_await pause(tick);
        if (told() || !held.held())
            break;
        // Ignores differences that come from the conversion between two clocks.
        if (const auto later = held.valid_until(); later > valid_until + 1ms) {
            valid_until = later;
            w.journal.held(from, valid_until);
        }
    } while (!stopping && steady::now() < from + w.work);

    const bool good = !told() && held.held();
    if (good)
        w.journal.wrote(w.number.write(number + 1));
    if (told())
        w.journal.over(from, *lost, "lost");
    else
        w.journal.over(from, steady::now(), good ? "released" : "expired");
    co_await held.release(no_throw);
}

// So that every node has a vote from the beginning. Does not wait long for nodes that are down.
asio::awaitable<void> connect(locker& all)
{
    for (const auto begin = steady::now(); steady::now() < begin + 1s && !stopping;) {
        const auto nodes = all.stats().nodes;
        if (std::all_of(
                nodes.begin(), nodes.end(), [](const node_stats& each) { return each.connected; }))
            co_return;
        co_await pause(tick);
    }
}

asio::awaitable<void> work_until_stopped(worker& w, locker& all)
{
    co_await connect(all);
    lock_options options;
    options.ttl = w.ttl;
    options.guard = w.guard;
    options.wait = 500ms;
    const lock shared(all, w.journal.resource(), options);
    while (!stopping) {
        auto [ec, held] = co_await shared.acquire(no_throw);
        if (!ec)
            co_await work_under(w, std::move(held));
        else {
            w.journal.failed(ec.value(), describe_nodes(all.stats()));
            co_await pause(tick);
        }
    }
    co_await all.close(asio::use_awaitable);
}

void run_holdfast(worker& w)
{
    redlock_options options;
    options.node_timeout = 100ms; // long enough for a busy machine
    options.silence_timeout = 2s;
    options.connect_timeout = 1s;
    options.reconnect_min = 10ms;
    options.reconnect_max = 100ms;
    asio::io_context io;
    locker all(io.get_executor(), redlock({w.urls.begin(), w.urls.end()}, options));
    asio::co_spawn(io, work_until_stopped(w, all), [](const std::exception_ptr& error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
}

void run_wrong_lock(worker& w)
{
    wrong_lock lock(w.lock, w.journal.resource(), w.ttl, w.urls);
    while (!stopping) {
        if (!lock.try_acquire()) {
            std::this_thread::sleep_for(tick);
            continue;
        }
        const auto from = steady::now();
        w.journal.held(from, lock.valid_until());
        const long number = w.number.read();
        std::this_thread::sleep_for(w.work);
        w.journal.wrote(w.number.write(number + 1));
        w.journal.over(from, std::min(steady::now(), lock.valid_until()), "released");
        lock.release();
    }
}

} // namespace
} // namespace holdfast::test

int main(int argc, char** argv)
try {
    using namespace holdfast::test;
    const std::vector<std::string> words(argv + 1, argv + argc);
    worker w{words.at(0), journal_writer(words.at(2), words.at(4), words.at(1)),
        number_file(words.at(3)), std::chrono::milliseconds(std::stoi(words.at(5))),
        std::chrono::milliseconds(std::stoi(words.at(6))),
        std::chrono::milliseconds(std::stoi(words.at(7))), {words.begin() + 8, words.end()}};
    std::signal(SIGTERM, [](int) { stopping = 1; });
    ::alarm(hung);
    std::cout << "started" << std::endl;
    if (w.lock == "holdfast")
        run_holdfast(w);
    else
        run_wrong_lock(w);
    std::cout << "done" << std::endl;
} catch (const std::exception& e) {
    std::cerr << "lock_worker: " << e.what() << '\n';
    return 1;
}
