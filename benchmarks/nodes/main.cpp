// Starts temporary servers of Redis, etcd, ZooKeeper, PostgreSQL and MariaDB and faulty addresses
// for the harness. Prints them as one line of JSON, and stops them when its standard input ends.
#include "machine.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"
#ifdef HOLDFAST_WITH_ETCD
#include "support/etcd_cluster.hpp"
#endif
#ifdef HOLDFAST_WITH_MYSQL
#include "support/mariadb_server.hpp"
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
#include "support/postgres_server.hpp"
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "support/zookeeper_servers.hpp"
#endif
#ifdef HOLDFAST_WITH_TLS
#include "support/tls_port.hpp"
#endif

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/program_options.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using asio::ip::tcp;
using holdfast::test::fault_proxy;

struct settings {
    std::size_t count = 5, slow = 0, refused = 0, black_holes = 0, delay_ms = 50, etcd = 0;
    std::size_t zookeeper = 0;
    bool tls = false, postgresql = false, mysql = false;
};

std::string url(std::uint16_t port)
{
    return "redis://127.0.0.1:" + std::to_string(port);
}

tcp::socket bound_socket(asio::io_context& io)
{
    return tcp::socket(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
}

// All servers, proxies and sockets, up for the lifetime of this object.
class nodes {
public:
    explicit nodes(const settings& wanted) : servers_(holdfast::test::start_servers(wanted.count))
    {
        for (std::size_t i = wanted.count - wanted.slow; i < wanted.count; ++i) {
            prompt_.emplace_back(servers_[i].port());
            fault_proxy& proxy = slow_.emplace_back(servers_[i].port());
            holdfast::test::link_faults late;
            late.to_client.delay = std::chrono::milliseconds(wanted.delay_ms);
            proxy.set(late);
        }
        while (refusing_.size() < wanted.refused) // bound but not listening: connects are refused
            refusing_.push_back(bound_socket(io_));
        while (silent_.size() < wanted.black_holes) // the kernel connects, but no answer comes
            silent_.emplace_back(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        if (wanted.tls)
            open_tls_ports();
#ifdef HOLDFAST_WITH_ETCD
        if (wanted.etcd != 0)
            etcd_.emplace(wanted.etcd);
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
        if (wanted.postgresql)
            postgresql_.emplace(holdfast::test::postgres_options{
                .settings = {"max_connections=400"}, .listens = true});
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
        // With its usual settings, unlike those of tests.
        if (wanted.zookeeper != 0)
            zookeeper_.emplace(holdfast::test::zookeeper_settings{.servers = wanted.zookeeper,
                .tick_ms = 2000,
                .java = {"-Xmx1g", "-XX:TieredStopAtLevel=4", "-Dzookeeper.forceSync=yes"}});
#endif
#ifdef HOLDFAST_WITH_MYSQL
        if (wanted.mysql)
            mysql_.emplace(holdfast::test::mariadb_options{
                .settings = {"max-connections=400", "innodb-buffer-pool-size=256M",
                    "innodb-log-file-size=96M"},
                .listens = true});
#endif
    }

    // Their addresses, the process ids, and the machine.
    json::object description()
    {
        json::array slow, prompt, refused, black_holes, servers, pids;
        for (const auto& server : servers_) {
            servers.emplace_back(server.url());
            pids.emplace_back(server.pid());
        }
        for (const auto& proxy : slow_)
            slow.emplace_back(proxy.url());
        for (const auto& proxy : prompt_)
            prompt.emplace_back(proxy.url());
        for (const auto& socket : refusing_)
            refused.emplace_back(url(socket.local_endpoint().port()));
        for (const auto& acceptor : silent_)
            black_holes.emplace_back(url(acceptor.local_endpoint().port()));
        json::array tls, etcd;
        for (const std::uint16_t port : tls_ports_)
            tls.emplace_back("rediss://127.0.0.1:" + std::to_string(port));
#ifdef HOLDFAST_WITH_ETCD
        if (etcd_) {
            for (const auto& member : etcd_->urls())
                etcd.emplace_back(member);
        }
#endif
        std::string postgresql, zookeeper, mysql;
#ifdef HOLDFAST_WITH_POSTGRESQL
        if (postgresql_)
            postgresql = postgresql_->uri();
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
        if (zookeeper_)
            zookeeper = zookeeper_->url();
#endif
#ifdef HOLDFAST_WITH_MYSQL
        if (mysql_)
            mysql = "mysql://root@127.0.0.1:" + std::to_string(mysql_->port()) + "/shop";
#endif
        json::object machine;
        const auto info = servers_.front().command({"INFO", "server"});
        for (const auto& [name, value] : benchmark::describe_machine(info))
            machine[name] = value;
        return {{"servers", servers}, {"pids", pids}, {"slow", slow}, {"prompt", prompt},
            {"refused", refused}, {"black_holes", black_holes}, {"tls", tls}, {"ca_file", ca_file_},
            {"etcd", etcd}, {"zookeeper", zookeeper}, {"postgresql", postgresql}, {"mysql", mysql},
            {"machine", machine}};
    }

private:
#ifdef HOLDFAST_WITH_TLS
    void open_tls_ports()
    {
        const auto own = signers_.issue("node", "IP:127.0.0.1");
        for (auto& server : servers_)
            tls_ports_.push_back(holdfast::test::open_tls_port(server, signers_, own));
        ca_file_ = signers_.authority();
    }
    holdfast::test::certificates signers_;
#else
    void open_tls_ports()
    {
        throw std::invalid_argument("--tls: built without TLS");
    }
#endif
#ifdef HOLDFAST_WITH_ETCD
    std::optional<holdfast::test::etcd_cluster> etcd_;
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
    std::optional<holdfast::test::postgres_server> postgresql_;
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
    std::optional<holdfast::test::zookeeper_servers> zookeeper_;
#endif
#ifdef HOLDFAST_WITH_MYSQL
    std::optional<holdfast::test::mariadb_server> mysql_;
#endif
    std::vector<std::uint16_t> tls_ports_;
    std::string ca_file_;
    asio::io_context io_;
    std::vector<holdfast::test::redis_server> servers_;
    std::vector<fault_proxy> slow_, prompt_;
    std::vector<tcp::socket> refusing_;
    std::vector<tcp::acceptor> silent_;
};

bool parse(settings& wanted, int argc, char** argv)
{
    po::options_description options("nodes");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("help", "show this text")(
        "count", number(wanted.count), "number of Redis servers")("slow", number(wanted.slow),
        "number of them, the last ones, that also have a slow and a prompt proxy")(
        "delay", number(wanted.delay_ms), "milliseconds by which a slow proxy delays answers")(
        "refused", number(wanted.refused), "number of addresses that refuse connections")(
        "black-holes", number(wanted.black_holes), "number of addresses that never answer")(
        "tls", po::bool_switch(&wanted.tls), "the servers also have a port for TLS");
#ifdef HOLDFAST_WITH_ETCD
    options.add_options()("etcd", number(wanted.etcd), "number of members of an etcd cluster");
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
    options.add_options()(
        "postgresql", po::bool_switch(&wanted.postgresql), "a PostgreSQL server as well");
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
    options.add_options()(
        "zookeeper", number(wanted.zookeeper), "number of servers of a ZooKeeper ensemble");
#endif
#ifdef HOLDFAST_WITH_MYSQL
    options.add_options()("mysql", po::bool_switch(&wanted.mysql), "a MariaDB server as well");
#endif
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0)
        std::cout << options;
    if (wanted.count < 1 || wanted.slow > wanted.count)
        throw std::invalid_argument("--count must be at least 1, and --slow at most --count");
    return given.count("help") == 0;
}

} // namespace

int main(int argc, char** argv)
try {
    settings wanted;
    if (!parse(wanted, argc, argv))
        return 0;
    std::signal(SIGINT, SIG_IGN); // the harness handles it and closes our standard input
    nodes all(wanted);
    std::cout << json::serialize(all.description()) << std::endl;
    while (std::getchar() != EOF) {
    }
} catch (const std::exception& e) {
    std::cerr << "nodes: " << e.what() << '\n';
    return 2;
}
