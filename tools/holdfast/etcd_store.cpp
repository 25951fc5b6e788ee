#include "holdfast/store_kinds.hpp"
#include "holdfast/store_parts.hpp"

#ifdef HOLDFAST_WITH_ETCD
#include <holdfast/etcd.hpp>
#endif

#include <stdexcept>
#include <utility>

namespace holdfast::cli {

bool is_etcd(const std::string& url)
{
    return url.starts_with("etcd://") || url.starts_with("etcds://");
}

#ifdef HOLDFAST_WITH_ETCD
namespace {

// `etcd://a,b,c` are three members: the scheme needs to stand only before the first one.
std::vector<std::string> members_of(const store_settings& settings)
{
    reject_options_of_redis(settings, "in etcd");
    const std::vector<std::string> urls = split(settings.stores);
    const std::string scheme = urls.front().substr(0, urls.front().find("://") + 3);
    const bool secure = scheme == "etcds://";
    std::vector<std::string> members;
    for (const std::string& url : urls) {
        const bool has_scheme = url.find("://") != url.npos;
        if (has_scheme && !url.starts_with(scheme))
            throw std::invalid_argument("all URLs of a cluster of etcd need the scheme " + scheme);
        const std::string member = has_scheme ? url.substr(scheme.size()) : url;
        if (member.find('@') != member.npos)
            throw std::invalid_argument("the URL of a member of etcd has no user and no password: "
                                        "give --user, and --password-file or HOLDFAST_PASSWORD");
        members.push_back((secure ? "https://" : "http://") + member);
    }
    return members;
}

backend open_members(std::vector<std::string> members, const store_settings& settings)
{
    const bool secure = members.front().starts_with("https://");
    etcd_options options;
    options.client_name = "holdfast-cli";
    options.key_prefix = settings.key_prefix;
    options.user = settings.user;
    options.password = password_of(settings);
    if (!options.password.empty() && options.user.empty())
        throw std::invalid_argument("etcd needs --user with a password");
    options.tls = tls_of(settings, secure, {"h2"});
    return etcd(std::move(members), std::move(options));
}
} // namespace

backend open_etcd(const store_settings& settings, use purpose)
{
    if (purpose == use::taking)
        throw std::invalid_argument(
            "a lock in etcd cannot be taken away, because its holder would not be told: stop "
            "the holder, or end its session with etcdctl lease revoke");
    return open_members(members_of(settings), settings);
}

std::vector<backend> open_each_member_of_etcd(const store_settings& settings)
{
    std::vector<backend> all;
    for (const std::string& member : members_of(settings))
        all.push_back(open_members({member}, settings));
    return all;
}
#else
namespace {

[[noreturn]] void reject_etcd()
{
    throw std::invalid_argument("this program was built without etcd");
}

} // namespace

backend open_etcd(const store_settings&, use)
{
    reject_etcd();
}

std::vector<backend> open_each_member_of_etcd(const store_settings&)
{
    reject_etcd();
}
#endif

} // namespace holdfast::cli
