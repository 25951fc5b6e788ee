// Acquires and releases, through the library or as the wire limit, and prints the figures as one
// line of JSON. The programs in peers/ do the same, with the same options.
#include "holdfast_load.hpp"
#include "load_options.hpp"
#include "wire_limit.hpp"

#include <cstdint>
#include <stdexcept>

namespace {

benchmark::result measure(
    const std::string& client, const benchmark::load& wanted, const std::vector<std::string>& urls)
{
    if (client == "holdfast")
        return benchmark::run_holdfast(urls, wanted);
    if (client != "wire_limit" || wanted.shared || wanted.fresh || wanted.fenced ||
        wanted.threads != 1 || wanted.locker_each)
        throw std::invalid_argument(
            "--client must be holdfast, or wire_limit without its other options");
    std::vector<std::uint16_t> ports;
    for (const std::string& url : urls)
        ports.push_back(static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))));
    return benchmark::run_wire_limit(ports, wanted);
}

void run(int argc, char** argv)
{
    std::string client = "holdfast";
    bool shared = false, fresh = false, fenced = false, locker_each = false;
    std::size_t threads = 1;
    std::string ca_file;
    benchmark::load_options options("lock_client");
    options.add()("client", boost::program_options::value(&client)->default_value(client),
        "holdfast or wire_limit");
    options.add()("shared", boost::program_options::bool_switch(&shared),
        "all coroutines want one resource; otherwise each has its own");
    options.add()(
        "fresh", boost::program_options::bool_switch(&fresh), "each lock is on a new resource");
    options.add()("fenced", boost::program_options::bool_switch(&fenced),
        "leases have fencing tokens; the nodes must be new");
    options.add()("threads",
        boost::program_options::value(&threads)->default_value(threads)->value_name("N"),
        "number of threads that run the locker");
    options.add()("locker-each", boost::program_options::bool_switch(&locker_each),
        "each thread has its own locker; otherwise all share one");
    options.add()("ca-file",
        boost::program_options::value(&ca_file)->default_value(ca_file)->value_name("FILE"),
        "the certificate of the authority of nodes over TLS");
    if (!options.parse(argc, argv))
        return;
    benchmark::load wanted = options.wanted();
    wanted.shared = shared;
    wanted.fresh = fresh;
    wanted.fenced = fenced;
    wanted.threads = threads;
    wanted.locker_each = locker_each;
    wanted.ca_file = ca_file;
    benchmark::print(benchmark::figures(measure(client, wanted, options.nodes())));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("lock_client", [&] { run(argc, argv); });
}
