#include "store.hpp"

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

#include <chrono>
#endif

#include <stdexcept>
#include <string_view>
#include <utility>

namespace benchmark {

namespace {

bool begins_with(const std::vector<std::string>& urls, std::string_view scheme)
{
    return !urls.empty() && urls.front().starts_with(scheme);
}

holdfast::backend etcd_at([[maybe_unused]] const std::vector<std::string>& urls)
{
#ifdef HOLDFAST_WITH_ETCD
    return holdfast::etcd(urls);
#else
    throw std::invalid_argument("built without etcd");
#endif
}

holdfast::backend postgresql_at([[maybe_unused]] const std::string& url)
{
#ifdef HOLDFAST_WITH_POSTGRESQL
    return holdfast::postgresql(url, {.create_table = true});
#else
    throw std::invalid_argument("built without PostgreSQL");
#endif
}

holdfast::backend zookeeper_at([[maybe_unused]] const std::string& url)
{
#ifdef HOLDFAST_WITH_ZOOKEEPER
    // As long as the leases of lease_holder, which would be renewed more often otherwise.
    return holdfast::zookeeper(url, {.session_timeout = std::chrono::seconds(30)});
#else
    throw std::invalid_argument("built without ZooKeeper");
#endif
}

// mysql://user@host:port/database, without a password.
holdfast::backend mysql_at([[maybe_unused]] std::string_view url)
{
#ifdef HOLDFAST_WITH_MYSQL
    url.remove_prefix(url.find("://") + 3);
    const auto at = url.find('@'), slash = url.find('/');
    if (at == url.npos || slash == url.npos)
        throw std::invalid_argument("the node must be mysql://user@host:port/database");
    holdfast::mysql_options options;
    options.user = url.substr(0, at);
    options.hosts = {std::string(url.substr(at + 1, slash - at - 1))};
    options.database = url.substr(slash + 1);
    options.create_table = true;
    return holdfast::mysql(std::move(options));
#else
    throw std::invalid_argument("built without MariaDB");
#endif
}

constexpr std::string_view etcd_scheme = "http://", postgresql_scheme = "postgresql://",
                           zookeeper_scheme = "zookeeper://", mysql_scheme = "mysql://";

} // namespace

bool is_redis(const std::vector<std::string>& urls)
{
    return !begins_with(urls, etcd_scheme) && !begins_with(urls, postgresql_scheme) &&
           !begins_with(urls, zookeeper_scheme) && !begins_with(urls, mysql_scheme);
}

holdfast::backend store_at(const std::vector<std::string>& urls, holdfast::redlock_options options)
{
    if (begins_with(urls, etcd_scheme))
        return etcd_at(urls);
    if (begins_with(urls, postgresql_scheme))
        return postgresql_at(urls.front());
    if (begins_with(urls, zookeeper_scheme))
        return zookeeper_at(urls.front());
    if (begins_with(urls, mysql_scheme))
        return mysql_at(urls.front());
    return holdfast::redlock({urls.begin(), urls.end()}, std::move(options));
}

} // namespace benchmark
