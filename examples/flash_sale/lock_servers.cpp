#include "lock_servers.hpp"

#include "support/redis_server.hpp"
#ifdef HOLDFAST_WITH_ETCD
#include "support/etcd_cluster.hpp"
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

} // namespace

std::unique_ptr<lock_servers> start_lock_servers(store_kind kind, std::size_t count)
{
    if (kind == store_kind::redis)
        return std::make_unique<redis_servers>(count);
#ifdef HOLDFAST_WITH_ETCD
    return std::make_unique<etcd_members>(count);
#else
    throw std::runtime_error("this program was built without etcd");
#endif
}

} // namespace flash_sale
