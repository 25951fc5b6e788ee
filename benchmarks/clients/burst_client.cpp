// Starts many acquires of distinct resources at once, a coroutine for each, which releases its
// lease. Prints the outcomes as one line of JSON.
#include "closed_loop.hpp"
#include "command_line.hpp"
#include "connected.hpp"
#include "outcomes.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <chrono>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using clock_type = std::chrono::steady_clock;

struct settings {
    std::size_t acquires = 100'000, wait_ms = 10'000, limit_ms = 60'000, held = 0;
    std::vector<std::string> nodes;

    holdfast::lock_options lock() const
    {
        holdfast::lock_options options;
        options.wait = std::chrono::milliseconds(wait_ms);
        return options;
    }
};

struct burst {
    burst(const settings& given, asio::io_context& context)
        : wanted(given),
          io(context),
          locker(io.get_executor(), holdfast::redlock(std::vector<holdfast::endpoint>(
                                        given.nodes.begin(), given.nodes.end())))
    {}

    const settings wanted;
    const std::string prefix = "burst:" + std::to_string(::getpid()) + ':';
    asio::io_context& io;
    holdfast::locker locker;
    benchmark::bystanders held{locker, prefix};
    benchmark::outcomes outcomes{};
    std::size_t unfinished = 0;
    clock_type::time_point begin{}, end{};
};

asio::awaitable<void> acquire_and_release(burst& all, std::size_t number)
{
    const holdfast::lock lock(all.locker, all.prefix + std::to_string(number), all.wanted.lock());
    auto [error, lease] = co_await lock.acquire(asio::as_tuple(asio::use_awaitable));
    all.outcomes.count(error, clock_type::now() - all.begin);
    if (!error)
        co_await lease.release();
    if (--all.unfinished == 0)
        all.end = clock_type::now();
}

void print_figures(burst& all, double cpu_seconds)
{
    const auto stats = all.locker.stats();
    json::object figures{{"acquires", all.wanted.acquires}, {"unfinished", all.unfinished},
        {"seconds", std::chrono::duration<double>(all.end - all.begin).count()},
        {"cpu_seconds", cpu_seconds}, {"attempts", stats.attempts},
        {"peak_resident_bytes", benchmark::peak_resident_bytes()}};
    all.outcomes.add_to(figures);
    all.held.add_to(figures);
    benchmark::print(figures);
}

asio::awaitable<void> measure(burst& all)
{
    co_await benchmark::connected(all.locker, all.prefix + "first");
    co_await all.held.acquire(all.wanted.held);
    const double cpu_begin = benchmark::cpu_seconds_now();
    all.begin = clock_type::now();
    all.unfinished = all.wanted.acquires;
    for (std::size_t i = 0; i < all.wanted.acquires; ++i)
        benchmark::start(all.io, acquire_and_release(all, i));
    asio::steady_timer timer(all.io);
    const auto limit = all.begin + std::chrono::milliseconds(all.wanted.limit_ms);
    while (all.unfinished > 0 && clock_type::now() < limit) {
        timer.expires_after(std::chrono::milliseconds(50));
        co_await timer.async_wait(asio::use_awaitable);
        all.held.look();
    }
    if (all.unfinished > 0)
        all.end = clock_type::now();
    print_figures(all, benchmark::cpu_seconds_now() - cpu_begin);
    all.io.stop(); // abandons the acquires that are left
}

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("burst_client");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("acquires", number(wanted.acquires), "number of acquires at once");
    options.add_options()(
        "wait", number(wanted.wait_ms), "milliseconds that each acquire may wait");
    options.add_options()(
        "limit", number(wanted.limit_ms), "milliseconds after which the burst is given up");
    options.add_options()("held", number(wanted.held), "leases held meanwhile, at ttl 10 s");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;

    asio::io_context io(1);
    burst all(wanted, io);
    benchmark::run_to_end(io, measure(all));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("burst_client", [&] { run(argc, argv); });
}
