// Acquires and releases distinct resources from many coroutines, through the library and as the
// wire limit, and prints both as one row. The servers are real, temporary and on loopback.
#include "holdfast_load.hpp"
#include "support/redis_server.hpp"
#include "wire_limit.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace {

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void compare(std::size_t node_count, const benchmark::load& wanted, int repetitions)
{
    const auto servers = holdfast::test::start_servers(node_count);
    const auto nodes = holdfast::test::urls(servers);
    std::vector<std::uint16_t> ports;
    for (const auto& server : servers)
        ports.push_back(server.port());

    std::vector<double> ours, wire, ratios, our_cpu, wire_cpu, cpu_ratios;
    for (int i = 0; i < repetitions; ++i) {
        const auto w = benchmark::run_wire_limit(ports, wanted);
        const auto h = benchmark::run_holdfast(nodes, wanted);
        ours.push_back(h.rate());
        wire.push_back(w.rate());
        ratios.push_back(h.rate() / w.rate());
        our_cpu.push_back(h.cpu_us());
        wire_cpu.push_back(w.cpu_us());
        cpu_ratios.push_back(h.cpu_us() / w.cpu_us());
    }
    std::printf("%zu nodes, %zu coroutines: %.0f locks/s, wire limit %.0f, ratio %.2f; client CPU "
                "%.2f us per lock, wire limit %.2f, ratio %.2f (medians of %d pairs)\n",
        node_count, wanted.concurrency, median(ours), median(wire), median(ratios), median(our_cpu),
        median(wire_cpu), median(cpu_ratios), repetitions);
}

} // namespace

int main(int argc, char** argv)
try {
    namespace po = boost::program_options;
    std::size_t nodes = 5, coroutines = 256;
    int seconds = 3, repetitions = 5;
    po::options_description options("throughput");
    options.add_options()("help", "show this text")(
        "nodes", po::value(&nodes), "number of Redis servers")("coroutines", po::value(&coroutines),
        "number of coroutines that acquire and release concurrently")("seconds",
        po::value(&seconds),
        "length of one run")("repetitions", po::value(&repetitions), "number of pairs of runs");
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0) {
        std::cout << options;
        return 0;
    }
    if (nodes < 1 || nodes > 15 || coroutines < 1 || seconds < 1 || repetitions < 1)
        throw std::invalid_argument("--nodes must be 1 to 15, all other values at least 1");
    benchmark::load wanted;
    wanted.concurrency = coroutines;
    wanted.length = std::chrono::seconds(seconds);
    compare(nodes, wanted, repetitions);
} catch (const std::exception& e) {
    std::cerr << "throughput: " << e.what() << '\n';
    return 2;
}
