#include <holdfast/redis.hpp>

#include "redis/cluster_core.hpp"
#include "redis/node/primary_search.hpp"
#include "redis/redlock_settings.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

constexpr std::size_t longest_service_name = 128;

// Those that a configuration of sentinels accepts.
bool is_service_name(std::string_view name)
{
    constexpr std::string_view others = ".-_";
    return !name.empty() && name.size() <= longest_service_name &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      others.find(c) != others.npos;
           });
}

redis::sentinel sentinel_of(const endpoint& where, const sentinel_options& options)
{
    redis::sentinel s{.where = redis::address_of(where), .name = where.address()};
    if (where.via() == endpoint::transport::tls)
        s.tls = options.sentinel_tls->factory();
    s.login = [where, ask = options.sentinel_credentials] {
        return ask ? ask(where) : credentials{.user = where.user(), .password = where.password()};
    };
    return s;
}

redis::node_settings primary_of(const sentinel_options& options)
{
    redis::node_settings s = redis::settings_of(options.primary);
    s.user = options.login.user;
    s.password = options.login.password;
    s.database = options.database;
    if (options.primary.tls)
        s.tls = options.primary.tls->factory();
    if (options.primary.credentials)
        s.login = [ask = options.primary.credentials, tls = options.primary.tls.has_value(),
                      database = options.database](const core::address& where) {
            return ask(endpoint((tls ? "rediss://" : "redis://") + core::in_words(where) + "/" +
                                std::to_string(database)));
        };
    return s;
}

redis::node_settings member_of(const std::vector<endpoint>& seeds, const redlock_options& options)
{
    redis::node_settings s = redis::settings_of(options);
    s.name = "redis cluster";
    s.in_cluster = true;
    s.user = seeds.front().user();
    s.password = seeds.front().password();
    if (options.tls)
        s.tls = options.tls->factory();
    if (options.credentials)
        s.login = [ask = options.credentials, tls = options.tls.has_value()](
                      const core::address& where) {
            return ask(endpoint((tls ? "rediss://" : "redis://") + core::in_words(where)));
        };
    return s;
}

class cluster_factory final : public core::backend_factory {
public:
    cluster_factory(const std::vector<endpoint>& seeds, const redlock_options& options)
        : member_(member_of(seeds, options)),
          used_{.key_prefix = options.key_prefix,
              .in_cluster = true,
              .about = {.name = "redis cluster", .promise = guarantee::primary},
              .client_record = false}
    {
        for (const endpoint& each : seeds)
            seeds_.push_back(redis::address_of(each));
        if (options.node_timeout)
            node_timeout_ = *options.node_timeout;
    }

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        return std::make_unique<redis::cluster_core>(
            seeds_, member_, node_timeout_, used_, jitter_seed);
    }

private:
    std::vector<core::address> seeds_;
    redis::node_settings member_;
    std::optional<core::duration> node_timeout_;
    redis::deployment used_;
};

// A seed stands for all members, so all seeds are used alike.
void check_seeds(const redis::argument_check& check, const std::vector<endpoint>& seeds)
{
    for (const endpoint& each : seeds) {
        if (each.via() == endpoint::transport::unix_socket)
            check.reject(each.address() + " is a unix socket; the members of a cluster are reached "
                                          "over the network");
        if (each.database() != 0)
            check.reject(each.address() + " has a database, and a cluster has none");
        if (each.via() != seeds.front().via())
            check.reject("some seeds have the scheme rediss, and others have not");
        if (each.user() != seeds.front().user() || each.password() != seeds.front().password())
            check.reject("the seeds must have the same user and password, which are used at all "
                         "members; or use redlock_options::credentials");
    }
}

} // namespace

backend redis_primary(endpoint primary, redlock_options options)
{
    const redis::argument_check check("redis_primary");
    check.no_fencing(options);
    check.layer({primary}, options.tls, "redlock_options::tls");
    check.options(options);
    return redis::make_backend({redis::settings_of(primary, options)}, options,
        {.name = "redis primary " + primary.address(), .promise = guarantee::primary});
}

backend redis_sentinel(
    std::vector<endpoint> sentinels, std::string service_name, sentinel_options options)
{
    const redis::argument_check check("redis_sentinel");
    check.endpoints(sentinels, "sentinels", "the addresses of sentinels must differ");
    if (!is_service_name(service_name))
        check.reject("the service name must have 1 to 128 letters, digits and .-_");
    check.no_fencing(options.primary);
    check.layer(sentinels, options.sentinel_tls, "sentinel_options::sentinel_tls");
    check.options(options.primary);
    auto known = std::make_shared<redis::sentinel_settings>();
    for (const endpoint& each : sentinels) {
        if (each.database() != 0)
            check.reject(each.address() + " has a database, and a sentinel has none; "
                                          "sentinel_options::database is that of the primary");
        known->sentinels.push_back(sentinel_of(each, options));
    }
    known->service = service_name;
    redis::node_settings primary = primary_of(options);
    primary.name = service_name;
    primary.sentinels = std::move(known);
    return redis::make_backend({std::move(primary)}, options.primary,
        {.name = "redis sentinel " + service_name, .promise = guarantee::primary});
}

backend redis_cluster(std::vector<endpoint> seeds, redlock_options options)
{
    const redis::argument_check check("redis_cluster");
    check.endpoints(seeds, "seeds", "the addresses of seeds must differ");
    check_seeds(check, seeds);
    check.no_fencing(options);
    check.layer(seeds, options.tls, "redlock_options::tls");
    check.options(options);
    return backend(std::make_shared<cluster_factory>(seeds, options));
}

} // namespace holdfast
