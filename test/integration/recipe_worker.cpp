// A process that works under a recipe, again and again, until SIGTERM or SIGKILL:
//
//     recipe_worker <recipe> <name> <folder> <url> ...
//
// <recipe> is "batch", "multi" or "once"; "keep-batch" and "keep-multi" work for ever once they are
// inside; "none" works without a lock, as a negative control of the test. The worker locks a file
// of the operating system for each resource while it is inside, and so finds out whether another
// process is inside at that time. Each line goes to <folder>/journal, which all workers share:
// "<name> enter", "<name> leave <number>", "<name> overlap", "<name> ran <from> <to>": when a job
// was asked for and granted, in nanoseconds of the monotonic clock.

#include "integration/journal_writer.hpp"

#include <holdfast/batch.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/multi_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <deque>
#include <exception>
#include <iostream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto no_throw = asio::experimental::as_tuple(asio::use_awaitable);
constexpr unsigned hung = 100; // seconds after which it is killed

volatile std::sig_atomic_t stopping = 0;

asio::awaitable<void> pause(steady::duration length)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

class worker {
public:
    worker(const std::string& recipe, std::string name, std::string folder)
        : keeps_(recipe.starts_with("keep")),
          name_(std::move(name)),
          folder_(std::move(folder)),
          journal_(folder_ + "/journal", O_WRONLY | O_APPEND)
    {}

    void write(const std::string& what)
    {
        const std::string line = name_ + " " + what + "\n";
        if (::write(journal_.descriptor(), line.data(), line.size()) !=
            static_cast<ssize_t>(line.size()))
            throw std::runtime_error("the journal cannot be written");
    }

    // Is inside for a moment, under a lease on these resources.
    template <class Lease>
    asio::awaitable<void> work(Lease& held, std::vector<std::string> resources, std::size_t count)
    {
        std::deque<file> locks;
        for (const std::string& each : resources) {
            const file& added = locks.emplace_back(folder_ + "/" + each, O_RDWR);
            if (::flock(added.descriptor(), LOCK_EX | LOCK_NB) != 0 && held.held())
                write("overlap");
        }
        write("enter");
        co_await pause(keeps_ ? steady::duration(1h) : steady::duration(2ms));
        write("leave " + std::to_string(count));
    }

private:
    const bool keeps_;
    const std::string name_, folder_;
    file journal_;
};

lock_options usual()
{
    lock_options options;
    options.ttl = 3s;
    options.guard = 1s; // longer than delays on a busy machine
    options.wait = 20s;
    return options;
}

asio::awaitable<void> submit_again(batcher<int>& orders, std::size_t& left)
{
    while (!stopping)
        co_await orders.submit(1, no_throw);
    --left;
}

asio::awaitable<void> work_in_batches(worker& w, locker& all)
{
    auto body = [&w](lease& held, std::span<int> orders) {
        return w.work(held, {"A"}, orders.size());
    };
    batcher<int> orders(lock(all, "A", usual()), body);
    std::size_t left = 20;
    for (std::size_t i = 0; i < 20; ++i)
        asio::co_spawn(
            all.get_executor(), submit_again(orders, left), [](std::exception_ptr error) {
                if (error)
                    std::rethrow_exception(error);
            });
    while (left != 0)
        co_await pause(2ms);
    co_await orders.close();
}

// Takes two or three of four resources.
asio::awaitable<void> work_under_several(worker& w, locker& all)
{
    std::minstd_rand random(static_cast<unsigned>(::getpid()));
    while (!stopping) {
        std::vector<std::string> names{"A", "B", "C", "D"};
        while (names.size() > 2 + random() % 2)
            names.erase(names.begin() + static_cast<long>(random() % names.size()));
        const multi_lock some(all, {names.begin(), names.end()}, usual());
        auto [ec, held] = co_await some.acquire(no_throw);
        if (ec)
            continue;
        co_await w.work(held, names, 1);
        co_await held.release(no_throw);
    }
}

// In place of a lease.
struct no_lease {
    static bool held() { return true; }
};

asio::awaitable<void> work_without_a_lock(worker& w)
{
    no_lease none;
    const std::vector<std::string> names{"A"};
    while (!stopping) {
        auto turn = w.work(none, names, 1);
        co_await std::move(turn);
    }
}

asio::awaitable<void> run_once_a_period(worker& w, locker& all)
{
    lock_options options;
    options.ttl = 2s;
    options.min_hold = 2s;
    const lock job(all, "job", options);
    while (!stopping) {
        const auto begin = steady::now();
        auto [ec, held] = co_await job.try_acquire(no_throw);
        if (!ec && held) {
            w.write("ran " + std::to_string(begin.time_since_epoch().count()) + " " +
                    std::to_string(steady::now().time_since_epoch().count()));
            co_await held.release(no_throw);
        }
        co_await pause(10ms);
    }
}

asio::awaitable<void> run(worker& w, const std::string& recipe, locker& all)
{
    if (recipe.ends_with("batch"))
        co_await work_in_batches(w, all);
    else if (recipe.ends_with("multi"))
        co_await work_under_several(w, all);
    else if (recipe == "once")
        co_await run_once_a_period(w, all);
    else
        co_await work_without_a_lock(w);
    co_await all.close(asio::use_awaitable);
}

} // namespace
} // namespace holdfast::test

int main(int argc, char** argv)
try {
    using namespace holdfast;
    const std::vector<std::string> words(argv + 1, argv + argc);
    test::worker w(words.at(0), words.at(1), words.at(2));
    std::signal(SIGTERM, [](int) { test::stopping = 1; });
    ::alarm(test::hung);
    redlock_options options;
    options.node_timeout = std::chrono::milliseconds(500); // long enough for a busy machine
    asio::io_context io;
    locker all(io.get_executor(), redlock({words.begin() + 3, words.end()}, options));
    asio::co_spawn(io, test::run(w, words.at(0), all), [](const std::exception_ptr& error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
    std::cout << "done" << std::endl;
} catch (const std::exception& e) {
    std::cerr << "recipe_worker: " << e.what() << '\n';
    return 1;
}
