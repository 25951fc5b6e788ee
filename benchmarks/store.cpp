#include "store.hpp"

#ifdef HOLDFAST_WITH_ETCD
#include <holdfast/etcd.hpp>
#endif

#include <stdexcept>
#include <utility>

namespace benchmark {

bool is_etcd(const std::vector<std::string>& urls)
{
    return !urls.empty() && urls.front().starts_with("http://");
}

holdfast::backend store_at(const std::vector<std::string>& urls, holdfast::redlock_options options)
{
    if (!is_etcd(urls))
        return holdfast::redlock({urls.begin(), urls.end()}, std::move(options));
#ifdef HOLDFAST_WITH_ETCD
    return holdfast::etcd(urls);
#else
    throw std::invalid_argument("built without etcd");
#endif
}

} // namespace benchmark
