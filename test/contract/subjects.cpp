#include "contract/backend_contract.hpp"

#include "support/redis_server.hpp"

#ifdef HOLDFAST_WITH_ETCD
#include "support/etcd_cluster.hpp"

#include <holdfast/etcd.hpp>
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
#include "support/postgres_server.hpp"

#include <holdfast/postgresql.hpp>
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "support/zookeeper_servers.hpp"

#include <holdfast/zookeeper.hpp>
#endif

#ifdef HOLDFAST_WITH_MYSQL
#include "support/mariadb_server.hpp"

#include <holdfast/mysql.hpp>
#endif

namespace holdfast::test {
namespace {

// The first `count` of the servers that all subjects share.
std::vector<endpoint> shared_nodes(std::size_t count)
{
    static std::vector<redis_server> servers;
    while (servers.size() < count)
        servers.emplace_back();
    std::vector<endpoint> nodes;
    for (std::size_t i = 0; i < count; ++i)
        nodes.emplace_back(servers[i].url());
    return nodes;
}

redlock_options patient()
{
    redlock_options options;
    options.node_timeout = 900ms; // the machine may be busy; the tests are not about speed
    return options;
}

redlock_options fenced()
{
    redlock_options options = patient();
    options.fencing = fencing::on;
    options.fence.first_deployment = true; // new nodes may grant at once
    return options;
}

backend in_memory()
{
    static const backend store = memory();
    return store;
}

template <std::size_t Nodes>
backend plain_redlock()
{
    static const backend store = redlock(shared_nodes(Nodes), patient());
    return store;
}

template <std::size_t Nodes>
backend fenced_redlock()
{
    static const backend store = redlock(shared_nodes(Nodes), fenced());
    return store;
}

#ifdef HOLDFAST_WITH_ETCD
backend in_etcd()
{
    static const etcd_cluster servers;
    static const backend store = etcd(servers.urls());
    return store;
}
#endif

#ifdef HOLDFAST_WITH_POSTGRESQL
backend in_postgresql()
{
    static const postgres_server server({.settings = {"max_connections=300"}});
    static const backend store = postgresql(server.where(), {.create_table = true});
    return store;
}
#endif

#ifdef HOLDFAST_WITH_ZOOKEEPER
backend in_zookeeper()
{
    static const zookeeper_servers servers;
    // A lease that stays after its locker was closed ends with the session.
    static const backend store = zookeeper(servers.url(), {.session_timeout = 5s});
    return store;
}
#endif

#ifdef HOLDFAST_WITH_MYSQL
backend in_mysql()
{
    static const mariadb_server server({.settings = {"max_connections=300"}});
    static const backend store = [] {
        mysql_options options = server.login();
        options.create_table = true;
        return mysql(options);
    }();
    return store;
}
#endif

} // namespace

// A function, because the cases read the list before main() begins.
const std::vector<subject>& every_backend()
{
    static const std::vector<subject> all{
        {.name = "memory", .has_tokens = true, .make = in_memory},
        {.name = "one node", .has_tokens = false, .make = plain_redlock<1>},
        {.name = "three nodes", .has_tokens = false, .make = plain_redlock<3>},
        {.name = "five nodes", .has_tokens = false, .make = plain_redlock<5>},
        {.name = "three nodes, fenced", .has_tokens = true, .make = fenced_redlock<3>},
#ifdef HOLDFAST_WITH_ETCD
        {.name = "etcd", .has_tokens = true, .make = in_etcd, .takes_away = false},
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
        {.name = "ZooKeeper",
            .has_tokens = true,
            .make = in_zookeeper,
            .takes_away = false,
            .tells_time_left = false,
            .longest_stay = 8s}, // the session lasts 5 s
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
        {.name = "PostgreSQL", .has_tokens = true, .make = in_postgresql, .names_processes = false},
#endif
#ifdef HOLDFAST_WITH_MYSQL
        {.name = "MariaDB",
            .has_tokens = true,
            .make = in_mysql,
            .tells_losses = false,
            .names_processes = false},
#endif
    };
    return all;
}

} // namespace holdfast::test
