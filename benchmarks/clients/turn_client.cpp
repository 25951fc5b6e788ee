// Takes turns on one resource with other processes, and prints when each hold began and ended as
// one line of JSON. Some of the programs in peers/ do the same, with the same options.
#include "closed_loop.hpp"
#include "command_line.hpp"
#include "common_begin.hpp"
#include "store.hpp"
#include "usage.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using benchmark::wall;

struct settings {
    std::string resource = "bench:turns";
    std::int64_t begin_ms = 0;
    std::size_t length_ms = 1'000, hold_us = 0;
    std::vector<std::string> nodes;
};

std::int64_t nanoseconds(wall::time_point when)
{
    return std::chrono::nanoseconds(when.time_since_epoch()).count();
}

asio::awaitable<void> take_turns(holdfast::locker& locker, const settings& wanted)
{
    {
        const holdfast::lock own(locker, wanted.resource + ":" + std::to_string(::getpid()));
        holdfast::lease lease = co_await own.acquire(); // connects
        co_await lease.release();
    }
    co_await benchmark::common_begin(wanted.begin_ms);

    const auto length = std::chrono::milliseconds(wanted.length_ms);
    const auto end = wall::time_point(std::chrono::milliseconds(wanted.begin_ms)) + length;
    asio::steady_timer timer(locker.get_executor());
    json::array holds;
    const double cpu = benchmark::cpu_seconds_now();
    const holdfast::lock lock(locker, wanted.resource);
    while (wall::now() < end) {
        holdfast::lease lease = co_await lock.acquire(holdfast::forever);
        const auto from = nanoseconds(wall::now());
        if (wanted.hold_us > 0) {
            timer.expires_after(std::chrono::microseconds(wanted.hold_us));
            co_await timer.async_wait(asio::use_awaitable);
        }
        holds.push_back(json::array{from, nanoseconds(wall::now())});
        co_await lease.release();
    }
    benchmark::print(json::object{
        {"cpu_seconds", benchmark::cpu_seconds_now() - cpu}, {"holds", std::move(holds)}});
    co_await locker.close();
}

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("turn_client");
    options.add_options()("resource",
        po::value(&wanted.resource)->default_value(wanted.resource)->value_name("NAME"),
        "which all processes want")("begin",
        po::value(&wanted.begin_ms)->required()->value_name("N"),
        "when all begin, in milliseconds since 1970")("length",
        po::value(&wanted.length_ms)->default_value(wanted.length_ms)->value_name("N"),
        "milliseconds for which they acquire again")("hold",
        po::value(&wanted.hold_us)->default_value(wanted.hold_us)->value_name("N"),
        "microseconds for which each lease is held at least");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;
    asio::io_context io(1);
    holdfast::locker locker(io.get_executor(), benchmark::store_at(wanted.nodes));
    benchmark::run_to_end(io, take_turns(locker, wanted));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("turn_client", [&] { run(argc, argv); });
}
