#include "holdfast_load.hpp"

#include "connected.hpp"
#include "store.hpp"

#include <holdfast/holdfast.hpp>
#ifdef HOLDFAST_WITH_TLS
#include <holdfast/tls.hpp>
#endif

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace benchmark {
namespace {

namespace asio = boost::asio;

// The signals that all threads share.
struct signals {
    std::atomic<bool> counting = false, stopping = false;
    std::mutex mutex; // protects the members below
    std::condition_variable changed;
    std::vector<asio::io_context*> contexts;
    std::size_t ready = 0; // lockers
    result total{};
    std::exception_ptr error{};

    void is_ready()
    {
        const std::lock_guard lock(mutex);
        ++ready;
        changed.notify_all();
    }

    // Waits until all are ready and then for this time, or until a failure.
    void wait(clock::duration how_long)
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return error || ready == contexts.size(); });
        changed.wait_for(lock, how_long, [this] { return error != nullptr; });
    }

    // Records the error and stops all contexts.
    void fail(std::exception_ptr e)
    {
        if (!e)
            return;
        const std::lock_guard lock(mutex);
        error = e;
        changed.notify_all();
        for (asio::io_context* const io : contexts)
            io->stop();
    }
};

// A locker, the coroutines that use it, and the threads that run them.
struct crew {
    crew(const std::vector<std::string>& urls, const holdfast::redlock_options& options,
        const load& wanted, std::size_t how_many, std::size_t first_number, signals& of_all)
        : io(static_cast<int>(wanted.locker_each ? 1 : wanted.threads)),
          locker(io.get_executor(), store_at(urls, options)),
          what(wanted),
          coroutines(how_many),
          first(first_number),
          all(of_all),
          running(how_many)
    {}

    asio::io_context io;
    holdfast::locker locker;
    const load what;
    const std::size_t coroutines, first;
    signals& all;
    std::atomic<std::size_t> running;
    holdfast::locker_stats before{}, after{}; // while no lock was in flight
};

asio::awaitable<void> work(crew& c, std::string name)
{
    result mine;
    holdfast::lock lock(c.locker, name);
    const auto now = [&c] {
        return c.what.latency ? clock::now() : clock::time_point();
    };
    while (!c.all.stopping) {
        if (c.what.fresh) { // the time makes the name unique among processes too
            const auto instant = clock::now().time_since_epoch().count();
            lock = holdfast::lock(c.locker, name + ':' + std::to_string(instant));
        }
        const auto asked = now();
        holdfast::lease lease = co_await lock.acquire(holdfast::forever);
        const auto acquired = now();
        const auto outcome = co_await lease.release();
        if (c.all.counting && outcome == holdfast::release_outcome::released)
            mine.count(c.what.latency, asked, acquired);
    }
    {
        const std::lock_guard lock_total(c.all.mutex);
        c.all.total.add(mine);
    }
    if (--c.running == 0) {
        c.after = c.locker.stats();
        co_await c.locker.close();
    }
}

// Connects first: nodes that miss the first requests would make the count of requests wrong.
asio::awaitable<void> start(crew& c)
{
    const auto fail = [&c](std::exception_ptr e) {
        c.all.fail(e);
    };
    co_await connected(c.locker, "bench:first:" + std::to_string(c.first));
    c.before = c.locker.stats();
    for (std::size_t i = c.first; i < c.first + c.coroutines; ++i) {
        const std::string name = c.what.shared ? "bench:shared" : "bench:" + std::to_string(i);
        asio::co_spawn(c.locker.get_executor(), work(c, name), fail);
    }
    c.all.is_ready();
}

holdfast::redlock_options options_for(const load& wanted)
{
    holdfast::redlock_options options;
    if (wanted.fenced) {
        options.fencing = holdfast::fencing::on;
        options.fence.first_deployment = true; // the servers are new
    }
    if (!wanted.ca_file.empty()) {
#ifdef HOLDFAST_WITH_TLS
        options.tls = holdfast::tls({.ca_file = wanted.ca_file});
#else
        throw std::invalid_argument("--ca-file: built without TLS");
#endif
    }
    return options;
}

// With fencing, a ballot follows the request for a lock.
void count_requests(const crew& c, bool fenced, result& measured)
{
    const std::uint64_t usual = fenced ? 3 : 2;
    const std::uint64_t locks = c.after.acquired - c.before.acquired;
    measured.all_locks += locks;
    for (std::size_t i = 0; i < c.after.nodes.size(); ++i) {
        const std::uint64_t sent = c.after.nodes[i].commands - c.before.nodes[i].commands;
        // Fewer at one node must not hide more at another one.
        measured.more_requests += std::max(sent, usual * locks) - usual * locks;
    }
}

void run_crew(crew& c)
{
    try {
        c.io.run();
    } catch (...) {
        c.all.fail(std::current_exception());
    }
}

// Runs on the calling thread.
void watch_the_clock(signals& all, const load& wanted)
{
    all.wait(wanted.warm_up);
    const auto begin = clock::now();
    const double cpu_begin = cpu_seconds_now();
    all.counting = true;
    all.wait(wanted.length);
    all.counting = false;
    const std::lock_guard lock(all.mutex);
    all.total.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    all.total.cpu_seconds = cpu_seconds_now() - cpu_begin;
    all.stopping = true;
}

} // namespace

result run_holdfast(const std::vector<std::string>& urls, const load& wanted)
{
    if (!is_redis(urls) && (wanted.fenced || !wanted.ca_file.empty()))
        throw std::invalid_argument("--fenced and --ca-file are for Redis");
    if (wanted.threads == 0 || wanted.concurrency < wanted.threads)
        throw std::invalid_argument(
            "--threads must be at least 1, and --concurrency at least --threads");
    const std::size_t lockers = wanted.locker_each ? wanted.threads : 1;
    signals all;
    std::vector<std::unique_ptr<crew>> crews;
    for (std::size_t i = 0; i < lockers; ++i) {
        const std::size_t first = i * wanted.concurrency / lockers;
        const std::size_t next = (i + 1) * wanted.concurrency / lockers;
        crews.push_back(
            std::make_unique<crew>(urls, options_for(wanted), wanted, next - first, first, all));
        all.contexts.push_back(&crews.back()->io);
    }
    {
        std::vector<std::jthread> threads;
        for (const auto& c : crews)
            asio::co_spawn(c->io, start(*c), [&all](std::exception_ptr e) { all.fail(e); });
        for (std::size_t i = 0; i < wanted.threads; ++i)
            threads.emplace_back(run_crew, std::ref(*crews[i % lockers]));
        watch_the_clock(all, wanted);
    }
    if (all.error)
        std::rethrow_exception(all.error);
    for (const auto& c : crews)
        count_requests(*c, wanted.fenced, all.total);
    return std::move(all.total);
}

} // namespace benchmark
