#include "holdfast/store_kinds.hpp"
#include "holdfast/store_parts.hpp"

#ifdef HOLDFAST_WITH_ZOOKEEPER
#include <holdfast/zookeeper.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

bool is_zookeeper(const std::string& url)
{
    return url.starts_with("zookeeper://") || url.starts_with("zookeepers://");
}

#ifdef HOLDFAST_WITH_ZOOKEEPER
namespace {

const std::string& url_of(const store_settings& settings)
{
    const std::string& url = only_url(settings, "ZooKeeper");
    reject_options_of_redis(settings, "in ZooKeeper");
    if (!settings.key_prefix.empty())
        throw std::invalid_argument("--prefix is not for ZooKeeper: locks in other folders are "
                                    "other locks; the folder is the path of the URL");
    if (url.find('@') != url.npos)
        throw std::invalid_argument("the URL of ZooKeeper has no user and no password: give "
                                    "--user, and --password-file or HOLDFAST_PASSWORD");
    return url;
}

using std::chrono::milliseconds;
constexpr std::chrono::seconds shortest(1);
constexpr std::chrono::minutes longest(10);

backend open_at(std::string url, const store_settings& settings)
{
    zookeeper_options options;
    options.client_name = "holdfast-cli";
    options.user = settings.user;
    options.password = password_of(settings);
    if (!options.password.empty() && options.user.empty())
        throw std::invalid_argument("ZooKeeper needs --user with a password");
    options.acl = settings.acl;
    options.tls = tls_of(settings, url.starts_with("zookeepers://"));
    if (settings.ttl)
        options.session_timeout = std::clamp<milliseconds>(*settings.ttl, shortest, longest);
    return zookeeper(std::move(url), std::move(options));
}

} // namespace

backend open_zookeeper(const store_settings& settings, use purpose)
{
    const std::string& url = url_of(settings);
    if (purpose == use::taking)
        throw std::invalid_argument(
            "a lock in ZooKeeper cannot be taken away, because its holder would not be told: stop "
            "the holder; the lock is free when its session has ended");
    return open_at(url, settings);
}

std::vector<backend> open_each_server_of_zookeeper(const store_settings& settings)
{
    const std::string& url = url_of(settings);
    const auto begin = url.find("://") + 3, slash = url.find('/', begin);
    const std::string root = slash == url.npos ? "" : url.substr(slash);
    std::vector<backend> all;
    for (const std::string& server : split({url.substr(begin, slash - begin)}))
        all.push_back(open_at(url.substr(0, begin) + server + root, settings));
    return all;
}
#else
namespace {

[[noreturn]] void reject_zookeeper()
{
    throw std::invalid_argument("this program was built without ZooKeeper");
}

} // namespace

backend open_zookeeper(const store_settings&, use)
{
    reject_zookeeper();
}

std::vector<backend> open_each_server_of_zookeeper(const store_settings&)
{
    reject_zookeeper();
}
#endif

} // namespace holdfast::cli
