#include "store_kind.hpp"

#include <holdfast/redlock.hpp>
#ifdef HOLDFAST_WITH_ETCD
#include <holdfast/etcd.hpp>
#endif
#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/mysql.hpp>
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
#include <holdfast/postgresql.hpp>
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <holdfast/zookeeper.hpp>
#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace flash_sale {
namespace {

using namespace std::chrono_literals;
using nodes = std::vector<std::string>;

// Of all of these, each lease has a token.
#ifdef HOLDFAST_WITH_ETCD
holdfast::backend in_etcd(const nodes& all)
{
    return holdfast::etcd(all);
}
#else
constexpr std::nullptr_t in_etcd = nullptr;
#endif

#ifdef HOLDFAST_WITH_ZOOKEEPER
holdfast::backend in_zookeeper(const nodes& all)
{
    return holdfast::zookeeper(all.front());
}
#else
constexpr std::nullptr_t in_zookeeper = nullptr;
#endif

#ifdef HOLDFAST_WITH_POSTGRESQL
holdfast::backend in_postgresql(const nodes& all)
{
    return holdfast::postgresql(all.front(), {.create_table = true});
}
#else
constexpr std::nullptr_t in_postgresql = nullptr;
#endif

#ifdef HOLDFAST_WITH_MYSQL
holdfast::backend in_mysql(const nodes& all)
{
    holdfast::mysql_options options;
    options.hosts = all;
    options.user = "root";
    options.database = "shop";
    options.create_table = true;
    return holdfast::mysql(options);
}
#else
constexpr std::nullptr_t in_mysql = nullptr;
#endif

struct known_store {
    store_kind kind;
    const char* name;
    bool is_single;
    std::chrono::seconds ttl;
    holdfast::backend (*open)(const nodes& all); // null: built without it
};

constexpr std::array others{
    known_store{store_kind::etcd, "etcd", false, 5s, in_etcd},
    known_store{store_kind::zookeeper, "zookeeper", false, 10s, in_zookeeper},
    known_store{store_kind::postgresql, "postgresql", true, 5s, in_postgresql},
    known_store{store_kind::mysql, "mysql", true, 5s, in_mysql},
};

const known_store* find(store_kind kind)
{
    for (const known_store& each : others) {
        if (each.kind == kind)
            return &each;
    }
    return nullptr; // Redis
}

} // namespace

std::string name_of(store_kind kind)
{
    const known_store* const found = find(kind);
    return found == nullptr ? "redis" : found->name;
}

store_kind store_named(const std::string& name)
{
    if (name == "redis")
        return store_kind::redis;
    for (const known_store& each : others) {
        if (name != each.name)
            continue;
        if (each.open == nullptr)
            throw std::invalid_argument("--store " + name + ": this program was built without it");
        return each.kind;
    }
    throw std::invalid_argument("--store must be redis, etcd, zookeeper, postgresql or mysql");
}

bool is_single(store_kind kind)
{
    const known_store* const found = find(kind);
    return found != nullptr && found->is_single;
}

std::chrono::seconds shortest_ttl(store_kind kind)
{
    const known_store* const found = find(kind);
    return found == nullptr ? std::chrono::seconds(2) : found->ttl;
}

holdfast::backend store_of(const worker_settings& given)
{
    if (const known_store* const found = find(given.store))
        return found->open(given.nodes);
    holdfast::redlock_options options;
    if (given.fenced) {
        options.fencing = holdfast::fencing::on;
        options.fence.first_deployment = true; // the servers are as new as this sale
    }
    return holdfast::redlock({given.nodes.begin(), given.nodes.end()}, options);
}

} // namespace flash_sale
