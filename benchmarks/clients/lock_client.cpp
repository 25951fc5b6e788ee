// Acquires and releases, through the library or as the limit of the wire, and prints what came of
// it as one line of JSON. The programs in peers/ do the same, with the same options.
#include "command_line.hpp"
#include "holdfast_load.hpp"
#include "wire_limit.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace {

namespace json = boost::json;
namespace po = boost::program_options;

struct wanted_run {
    std::string client = "holdfast";
    benchmark::load load;
    std::vector<std::string> nodes;
};

double quantile(std::vector<float>& values, double part)
{
    const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

void add_quantiles(json::object& figures, const std::string& name, std::vector<float>& values)
{
    if (values.empty())
        return;
    figures[name + "_p50"] = quantile(values, 0.5);
    figures[name + "_p99"] = quantile(values, 0.99);
    figures[name + "_max"] = quantile(values, 1);
}

benchmark::result measure(const wanted_run& wanted)
{
    if (wanted.client == "holdfast") {
        const std::vector<holdfast::endpoint> nodes(wanted.nodes.begin(), wanted.nodes.end());
        return benchmark::run_holdfast(nodes, wanted.load);
    }
    if (wanted.client != "wire_limit" || wanted.load.shared)
        throw std::invalid_argument("the clients are holdfast and, not shared, wire_limit");
    std::vector<std::uint16_t> ports;
    for (const std::string& url : wanted.nodes)
        ports.push_back(static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))));
    return benchmark::run_wire_limit(ports, wanted.load);
}

void run(int argc, char** argv)
{
    wanted_run wanted;
    std::size_t length = 1'000, warm_up = 200;
    po::options_description options("lock_client");
    options.add_options()(
        "client", po::value(&wanted.client)->default_value(wanted.client), "or wire_limit");
    options.add_options()("concurrency",
        po::value(&wanted.load.concurrency)->default_value(wanted.load.concurrency),
        "locks in flight");
    options.add_options()(
        "length", po::value(&length)->default_value(length), "milliseconds that are measured");
    options.add_options()(
        "warm-up", po::value(&warm_up)->default_value(warm_up), "milliseconds before");
    options.add_options()("shared", po::bool_switch(&wanted.load.shared),
        "all want one resource; otherwise each has its own");
    options.add_options()("latency", po::bool_switch(&wanted.load.latency), "of each lock as well");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;
    wanted.load.length = std::chrono::milliseconds(length);
    wanted.load.warm_up = std::chrono::milliseconds(warm_up);

    benchmark::result r = measure(wanted);
    json::object figures{
        {"locks", r.locks}, {"seconds", r.seconds}, {"cpu_seconds", r.cpu_seconds}};
    add_quantiles(figures, "acquire_us", r.acquire_us);
    add_quantiles(figures, "cycle_us", r.cycle_us);
    benchmark::print(figures);
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("lock_client", [&] { run(argc, argv); });
}
