// Holds many leases, which the library renews, and prints the cost as one line of JSON.
#include "closed_loop.hpp"
#include "command_line.hpp"
#include "connected.hpp"
#include "held_leases.hpp"
#include "store.hpp"
#include "usage.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <malloc.h>

#include <chrono>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using clock_type = std::chrono::steady_clock;

struct settings {
    std::size_t leases = 100'000, ttl_ms = 30'000, length_ms = 30'000;
    std::vector<std::string> nodes;
};

double allocated_now()
{
    const auto heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
}

struct usage {
    double cpu_seconds = benchmark::cpu_seconds_now();
    double allocated = allocated_now(), resident = benchmark::resident_bytes_now();
    clock_type::time_point when = clock_type::now();
};

struct holder {
    settings wanted;
    holdfast::locker locker;
    benchmark::held_leases held{locker, "held:", std::chrono::milliseconds(wanted.ttl_ms)};
};

void print_figures(
    holder& all, const usage& empty, const usage& full, const usage& end, std::uint64_t renewals)
{
    const auto stats = all.locker.stats();
    const double seconds = std::chrono::duration<double>(end.when - full.when).count();
    const auto each = static_cast<double>(all.wanted.leases);
    benchmark::print(json::object{{"leases", all.wanted.leases}, {"ttl_ms", all.wanted.ttl_ms},
        {"acquire_seconds", std::chrono::duration<double>(full.when - empty.when).count()},
        {"seconds", seconds}, {"cpu_seconds", end.cpu_seconds - full.cpu_seconds},
        {"cores", (end.cpu_seconds - full.cpu_seconds) / seconds},
        {"allocated_bytes_each", (end.allocated - empty.allocated) / each},
        {"resident_bytes_each", (end.resident - empty.resident) / each},
        {"resident_bytes", end.resident}, {"renewals", stats.renewals - renewals},
        {"lost", stats.lost}, {"not_held", all.held.lost()}});
}

asio::awaitable<void> hold_all(holder& all)
{
    co_await benchmark::connected(all.locker, "held:first");
    const usage empty;
    co_await all.held.acquire(all.wanted.leases);
    const std::uint64_t renewals = all.locker.stats().renewals;
    const usage full;
    asio::steady_timer timer(
        all.locker.get_executor(), std::chrono::milliseconds(all.wanted.length_ms));
    co_await timer.async_wait(asio::use_awaitable);
    const usage end;
    print_figures(all, empty, full, end, renewals);
    co_await all.held.release();
    co_await all.locker.close();
}

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("lease_holder");
    options.add_options()(
        "leases", po::value(&wanted.leases)->default_value(wanted.leases), "number of leases");
    options.add_options()(
        "ttl", po::value(&wanted.ttl_ms)->default_value(wanted.ttl_ms), "milliseconds");
    options.add_options()("length", po::value(&wanted.length_ms)->default_value(wanted.length_ms),
        "milliseconds for which all leases are held");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;

    asio::io_context io(1);
    holder all{wanted, holdfast::locker(io.get_executor(), benchmark::store_at(wanted.nodes))};
    benchmark::run_to_end(io, hold_all(all));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("lease_holder", [&] { run(argc, argv); });
}
