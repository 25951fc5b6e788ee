#include "lock_servers.hpp"

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

#include <stdexcept>

namespace flash_sale {
namespace {

// Independent servers. All are equal: the first one that runs is taken.
class redis_servers final : public lock_servers {
public:
    explicit redis_servers(std::size_t count) : servers_(holdfast::test::start_servers(count)) {}

    std::vector<std::string> urls() const override { return holdfast::test::urls(servers_); }
    std::string title() const override
    {
        return std::to_string(servers_.size()) + " Redis servers";
    }

    std::size_t most_important() const override
    {
        std::size_t first = 0;
        while (!servers_[first].running())
            ++first;
        return first;
    }

    void kill(std::size_t server) override { servers_[server].kill(); }
    void pause(std::size_t server) override { servers_[server].pause(); }
    void resume(std::size_t server) override { servers_[server].resume(); }

private:
    std::vector<holdfast::test::redis_server> servers_;
};

#ifdef HOLDFAST_WITH_ETCD
// The members of one cluster. The others have to elect a new leader when it fails.
class etcd_members final : public lock_servers {
public:
    explicit etcd_members(std::size_t count) : cluster_(count) {}

    std::vector<std::string> urls() const override { return cluster_.urls(); }
    std::string title() const override
    {
        return std::to_string(cluster_.size()) + " members of an etcd cluster";
    }
    std::size_t most_important() const override { return cluster_.leader(); }
    void kill(std::size_t server) override { cluster_.kill(server); }
    void pause(std::size_t server) override { cluster_.pause(server); }
    void resume(std::size_t server) override { cluster_.resume(server); }

private:
    holdfast::test::etcd_cluster cluster_;
};
#endif

#ifdef HOLDFAST_WITH_ZOOKEEPER
// As above. One URL names them all.
class zookeeper_ensemble final : public lock_servers {
public:
    explicit zookeeper_ensemble(unsigned count) : servers_({.servers = count}) {}

    std::vector<std::string> urls() const override { return {servers_.url()}; }
    std::string name(std::size_t server) const override
    {
        return "127.0.0.1:" + std::to_string(servers_.port(server));
    }
    std::string title() const override
    {
        return std::to_string(servers_.size()) + " servers of a ZooKeeper ensemble";
    }
    std::size_t most_important() const override { return servers_.leader(); }
    void kill(std::size_t server) override { servers_.kill(server); }
    void pause(std::size_t server) override { servers_.pause(server); }
    void resume(std::size_t server) override { servers_.resume(server); }

private:
    holdfast::test::zookeeper_servers servers_;
};
#endif

#ifdef HOLDFAST_WITH_POSTGRESQL
// One server. All wait while it is down; the table of the locks is still there afterwards.
class postgresql_server final : public lock_servers {
public:
    std::vector<std::string> urls() const override { return {server_.uri()}; }
    std::string title() const override { return "a PostgreSQL server"; }
    std::size_t most_important() const override { return 0; }
    void kill(std::size_t) override { server_.kill(); }
    void pause(std::size_t) override { server_.pause(); }
    void resume(std::size_t) override { server_.resume(); }
    bool is_alone() const override { return true; }
    void restart(std::size_t) override { server_.restart(); }

private:
    holdfast::test::postgres_server server_{{.settings = {"max_connections=200"}, .listens = true}};
};
#endif

#ifdef HOLDFAST_WITH_MYSQL
// As above.
class single_mariadb_server final : public lock_servers {
public:
    std::vector<std::string> urls() const override { return {server_.socket()}; }
    std::string title() const override { return "a MariaDB server"; }
    std::size_t most_important() const override { return 0; }
    void kill(std::size_t) override { server_.kill(); }
    void pause(std::size_t) override { server_.pause(); }
    void resume(std::size_t) override { server_.resume(); }
    bool is_alone() const override { return true; }
    void restart(std::size_t) override { server_.restart(); }

private:
    holdfast::test::mariadb_server server_;
};
#endif

} // namespace

std::unique_ptr<lock_servers> start_lock_servers(store_kind kind, std::size_t count)
{
    if (kind == store_kind::redis)
        return std::make_unique<redis_servers>(count);
#ifdef HOLDFAST_WITH_ETCD
    if (kind == store_kind::etcd)
        return std::make_unique<etcd_members>(count);
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
    if (kind == store_kind::zookeeper)
        return std::make_unique<zookeeper_ensemble>(static_cast<unsigned>(count));
#endif
#ifdef HOLDFAST_WITH_MYSQL
    if (kind == store_kind::mysql)
        return std::make_unique<single_mariadb_server>();
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
    if (kind == store_kind::postgresql)
        return std::make_unique<postgresql_server>();
#endif
    throw std::runtime_error("this program was built without that store");
}

} // namespace flash_sale
