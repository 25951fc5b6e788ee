// A flash sale: many processes, each with hundreds of coroutines, sell a stock. A Redis server
// stores the stock as a plain number: read, think, write back. A lock over five other Redis
// servers, in an etcd cluster, a ZooKeeper ensemble, or a PostgreSQL or MariaDB server prevents
// lost updates while servers of the lock fail. With --fenced the server of the stock also refuses
// late writes; --freeze shows why that is needed. See --help.
//
// main.cpp          the command line
// orchestra.cpp     the parent: workers, the verdict
// saboteur.cpp      the faults of the servers that store the lock
// lock_servers.cpp  the servers that store the lock
// store_kind.cpp    the stores of the lock, as the workers use them
// worker.cpp        one process of the shop, which uses the lock
// stock.cpp         the connection to the shop's own server
// process.cpp       one worker, as the parent sees it
// report.cpp        counting and printing

#include "orchestra.hpp"
#include "settings.hpp"
#include "store_kind.hpp"
#include "worker.hpp"

#include <boost/program_options.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

namespace po = boost::program_options;

void check(const std::string& name, unsigned value, unsigned smallest, unsigned largest)
{
    if (value < smallest || value > largest)
        throw std::invalid_argument("--" + name + " must be " + std::to_string(smallest) + " to " +
                                    std::to_string(largest));
}

void check(const flash_sale::settings& wanted)
{
    check("processes", wanted.processes, 1, 64);
    check("buyers-per-process", wanted.coroutines, 1, 2'000);
    check("buyers", wanted.buyers, 1, 1'000'000);
    check("stock", wanted.stock, 1, 1'000'000);
    check("nodes", wanted.nodes, 1, 15);
    check("think", wanted.think_ms, 0, 10'000);
    if (!wanted.lock && (wanted.fenced || wanted.freeze))
        throw std::invalid_argument("--fenced and --freeze need the lock: not with --no-lock");
    if (wanted.freeze && wanted.processes < 2)
        throw std::invalid_argument("--freeze needs a second process that runs: --processes=2");
}

template <class Number>
po::typed_value<Number>* number(Number& variable)
{
    return po::value(&variable)->default_value(variable)->value_name("N");
}

int run(int argc, char** argv)
{
    flash_sale::settings wanted;
    flash_sale::worker_settings given;
    std::string store = "redis";
    po::options_description visible("flash_sale sells a stock from many processes under one lock");
    visible.add_options()("help", "print this")("processes", number(wanted.processes),
        "processes that sell")("buyers-per-process", number(wanted.coroutines),
        "coroutines in each process, at the same time")("buyers", number(wanted.buyers),
        "buyers in total; each wants one item")("stock", number(wanted.stock), "items")("store",
        po::value(&store)->default_value(store)->value_name("KIND"),
        "what stores the lock: redis, independent servers; etcd or zookeeper, a cluster; "
        "postgresql "
        "or mysql (MariaDB), one server")(
        "nodes", number(wanted.nodes), "servers that store the lock")(
        "think", number(wanted.think_ms), "milliseconds between reading the stock and writing it")(
        "no-lock", "show what happens without the lock (exit status 1)")(
        "fenced", "leases have tokens, and the stock's server refuses a stale token")("freeze",
        "stop one process between its read and its write, until others have held its lock: "
        "without --fenced an update is lost (exit status 1)")(
        "no-faults", "do not break servers of the lock");
    po::options_description hidden; // how the parent starts a worker
    hidden.add_options()("worker", "")("freezes", "")("stock-port", po::value(&given.stock_port))(
        "first-buyer", po::value(&given.first_buyer))("node", po::value(&given.nodes));
    po::options_description all;
    all.add(visible).add(hidden);

    po::variables_map seen;
    po::store(po::command_line_parser(argc, argv).options(all).run(), seen);
    po::notify(seen);
    if (seen.count("help")) {
        std::cout << visible;
        return 0;
    }
    wanted.store = flash_sale::store_named(store);
    if (flash_sale::is_single(wanted.store)) {
        if (!seen["nodes"].defaulted() && wanted.nodes != 1)
            throw std::invalid_argument("--store " + store + " has one server: --nodes=1");
        wanted.nodes = 1;
    }
    wanted.lock = !seen.count("no-lock");
    wanted.fenced = seen.count("fenced") != 0;
    wanted.freeze = seen.count("freeze") != 0;
    wanted.faults = !seen.count("no-faults");
    if (seen.count("worker")) {
        given.store = wanted.store;
        given.coroutines = wanted.coroutines;
        given.buyers = wanted.buyers;
        given.think_ms = wanted.think_ms;
        given.fenced = wanted.fenced;
        given.freezes = seen.count("freezes") != 0;
        return flash_sale::run_worker(given);
    }
    check(wanted);
    return flash_sale::run_sale(wanted);
}

} // namespace

int main(int argc, char** argv)
try {
    return run(argc, argv);
} catch (const std::exception& e) {
    std::cerr << "flash_sale: " << e.what() << '\n';
    return 2;
}
