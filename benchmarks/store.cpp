#include "store.hpp"

#ifdef HOLDFAST_WITH_ETCD
#include <holdfast/etcd.hpp>
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
#include <holdfast/postgresql.hpp>
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

constexpr std::string_view etcd_scheme = "http://", postgresql_scheme = "postgresql://";

} // namespace

bool is_redis(const std::vector<std::string>& urls)
{
    return !begins_with(urls, etcd_scheme) && !begins_with(urls, postgresql_scheme);
}

holdfast::backend store_at(const std::vector<std::string>& urls, holdfast::redlock_options options)
{
    if (begins_with(urls, etcd_scheme))
        return etcd_at(urls);
    if (begins_with(urls, postgresql_scheme))
        return postgresql_at(urls.front());
    return holdfast::redlock({urls.begin(), urls.end()}, std::move(options));
}

} // namespace benchmark
