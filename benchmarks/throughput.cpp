// Acquires and releases distinct resources from many coroutines, beside the limit that the wire
// sets, and prints both as one row. The servers are real, throw-away and on loopback.
#include "support/redis_server.hpp"
#include "wire_limit.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/program_options.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using benchmark::result;

namespace {

using clock_type = std::chrono::steady_clock;

struct run_state {
    clock_type::time_point end;
    std::uint64_t locks = 0;
    std::size_t running = 0;
};

asio::awaitable<void> work(holdfast::locker& locker, std::string name, run_state& state)
{
    holdfast::lock lock(locker, name);
    while (clock_type::now() < state.end) {
        holdfast::lease lease = co_await lock.acquire();
        co_await lease.release();
        ++state.locks;
    }
    if (--state.running == 0)
        co_await locker.close();
}

result run_holdfast(const std::vector<holdfast::endpoint>& nodes, std::size_t coroutines,
    std::chrono::milliseconds length)
{
    asio::io_context io(1);
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes));
    run_state state;
    state.running = coroutines;
    const auto begin = clock_type::now();
    const double cpu_begin = benchmark::cpu_seconds_now();
    state.end = begin + length;
    for (std::size_t i = 0; i < coroutines; ++i)
        asio::co_spawn(
            io, work(locker, "bench:" + std::to_string(i), state), [](std::exception_ptr error) {
                if (error)
                    std::rethrow_exception(error);
            });
    io.run();
    result r;
    r.locks = state.locks;
    r.seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
    r.cpu_seconds = benchmark::cpu_seconds_now() - cpu_begin;
    return r;
}

double rate(const result& r)
{
    return static_cast<double>(r.locks) / r.seconds;
}

double cpu_us(const result& r)
{
    return r.cpu_seconds * 1e6 / static_cast<double>(r.locks);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void compare(std::size_t node_count, std::size_t coroutines, std::chrono::milliseconds length,
    int repetitions)
{
    const auto servers = holdfast::test::start_servers(node_count);
    const auto nodes = holdfast::test::endpoints(servers);
    std::vector<std::uint16_t> ports;
    for (const auto& server : servers)
        ports.push_back(server.port());

    std::vector<double> ours, wire, ratios, our_cpu, wire_cpu, cpu_ratios;
    for (int i = 0; i < repetitions; ++i) {
        const result w = benchmark::run_wire_limit(ports, coroutines, length);
        const result h = run_holdfast(nodes, coroutines, length);
        ours.push_back(rate(h));
        wire.push_back(rate(w));
        ratios.push_back(rate(h) / rate(w));
        our_cpu.push_back(cpu_us(h));
        wire_cpu.push_back(cpu_us(w));
        cpu_ratios.push_back(cpu_us(h) / cpu_us(w));
    }
    std::printf("%zu nodes, %zu coroutines: %.0f locks/s, wire limit %.0f, ratio %.2f; client CPU "
                "%.2f us a lock, wire limit %.2f, ratio %.2f (medians of %d pairs)\n",
        node_count, coroutines, median(ours), median(wire), median(ratios), median(our_cpu),
        median(wire_cpu), median(cpu_ratios), repetitions);
}

} // namespace

int main(int argc, char** argv)
try {
    namespace po = boost::program_options;
    std::size_t nodes = 5, coroutines = 256;
    int seconds = 3, repetitions = 5;
    po::options_description options("throughput");
    options.add_options()("help", "this text")("nodes", po::value(&nodes), "Redis servers")(
        "coroutines", po::value(&coroutines), "that acquire and release at the same time")(
        "seconds", po::value(&seconds), "length of one run")(
        "repetitions", po::value(&repetitions), "pairs of runs");
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0) {
        std::cout << options;
        return 0;
    }
    if (nodes < 1 || nodes > 15 || coroutines < 1 || seconds < 1 || repetitions < 1)
        throw std::invalid_argument("1 to 15 nodes; at least 1 of everything else");
    compare(nodes, coroutines, std::chrono::seconds(seconds), repetitions);
} catch (const std::exception& e) {
    std::cerr << "throughput: " << e.what() << '\n';
    return 2;
}
