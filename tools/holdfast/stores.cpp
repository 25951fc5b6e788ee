#include "holdfast/stores.hpp"

#include "holdfast/store_kinds.hpp"
#include "holdfast/store_parts.hpp"

#include <holdfast/redis.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp> // defines what App.hpp uses

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

std::string first_url(const store_settings& settings)
{
    const std::vector<std::string> urls = split(settings.stores);
    return urls.empty() ? std::string() : urls.front();
}

bool has_tls(const std::vector<endpoint>& nodes)
{
    for (const endpoint& node : nodes) {
        if (node.via() == endpoint::transport::tls)
            return true;
    }
    return false;
}

void set_credentials(redlock_options& options, const store_settings& settings)
{
    const std::string password = password_of(settings); // an error is reported now, not by a node
    if (password.empty())
        return;
    options.credentials = [user = settings.user, file = settings.password_file, password](
                              const endpoint& node) {
        if (!node.password().empty())
            return credentials{.user = node.user(), .password = node.password()};
        return credentials{.user = user, .password = file.empty() ? password : read_password(file)};
    };
}

void check_kind(const store_settings& settings, std::size_t urls)
{
    if (urls == 0)
        throw std::invalid_argument("no store: give --store URL, set HOLDFAST_STORE, or write it "
                                    "to the configuration file");
    if (!settings.fenced && (settings.quarantine || settings.first_deployment))
        throw std::invalid_argument("--quarantine and --first-deployment need --fenced");
    const bool followed = !settings.sentinel.empty();
    if (settings.primary && followed)
        throw std::invalid_argument("--primary and --sentinel exclude each other");
    if (settings.fenced && (settings.primary || followed))
        throw std::invalid_argument("--fenced needs independent nodes: not --primary, --sentinel");
    if (settings.primary && urls != 1)
        throw std::invalid_argument("--primary needs one URL, that of the primary");
}

// A service behind sentinels uses TLS throughout, or nowhere.
backend open_sentinels(
    std::vector<endpoint> nodes, const store_settings& settings, redlock_options&& options)
{
    sentinel_options all;
    all.sentinel_tls = options.tls;
    all.primary = std::move(options); // a password in a URL is for that sentinel
    return redis_sentinel(std::move(nodes), settings.sentinel, std::move(all));
}

backend open_redis(const store_settings& settings, use purpose)
{
    const std::vector<std::string> urls = split(settings.stores);
    check_kind(settings, urls.size());
    std::vector<endpoint> nodes(urls.begin(), urls.end());
    redlock_options options;
    options.client_name = "holdfast-cli";
    options.client_record = purpose == use::locking;
    options.key_prefix = settings.key_prefix;
    set_credentials(options, settings);
    options.tls = tls_of(settings, has_tls(nodes));
    if (settings.fenced)
        options.fencing = fencing::on;
    if (settings.quarantine)
        options.fence.quarantine = settings.quarantine->value;
    options.fence.first_deployment = settings.first_deployment;
    if (!settings.sentinel.empty())
        return open_sentinels(std::move(nodes), settings, std::move(options));
    if (settings.primary)
        return redis_primary(std::move(nodes.front()), std::move(options));
    return redlock(std::move(nodes), std::move(options));
}

} // namespace

void add_store_options(CLI::App& app, store_settings& settings)
{
    const std::string group = "Store";
    app.add_option("--store", settings.stores,
           "URL of a node, redis://host:port, rediss://host:port (TLS) or unix:///path, or of a "
           "member of etcd, etcd://host:port or etcds://host:port (TLS); repeated, or separated by "
           "commas; or of another store, with all its servers: "
           "postgresql://user@host:port/database, zookeeper://host:port,host:port/root or "
           "zookeepers://host/root (TLS), mysql://user@host:port/database or "
           "mysqls://user@host/database (TLS); or in HOLDFAST_STORE")
        ->type_name("URL")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--user", settings.user, "user name; or in HOLDFAST_USER")
        ->type_name("NAME")
        ->group(group);
    app.add_option("--password-file", settings.password_file,
           "file whose first line is the password; or in HOLDFAST_PASSWORD_FILE; the password "
           "itself may be in HOLDFAST_PASSWORD")
        ->type_name("FILE")
        ->group(group);
#if defined(HOLDFAST_WITH_TLS) || defined(HOLDFAST_WITH_MYSQL)
    app.add_option("--ca-file", settings.ca_file,
           "certificates of the authorities to trust (PEM) instead of those of the system")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--cert", settings.certificate_file, "certificate of this client (PEM)")
        ->type_name("FILE")
        ->group(group);
    app.add_option("--key", settings.key_file, "private key of this client (PEM)")
        ->type_name("FILE")
        ->group(group);
#endif
    app.add_flag("--fenced", settings.fenced,
           "use locks with fencing tokens; all clients of the store must do the same")
        ->group(group);
    app.add_option("--quarantine", settings.quarantine,
           "with --fenced: how long a node grants nothing after a restart; default 60s; the same "
           "for all clients")
        ->type_name("DURATION")
        ->check(duration_error)
        ->group(group);
    app.add_flag("--first-deployment", settings.first_deployment,
           "with --fenced: nodes without a record of fencing are new; only for the first use")
        ->group(group);
    app.add_flag("--primary", settings.primary,
           "the store is one primary with replicas; a fail-over may lose locks")
        ->group(group);
    app.add_option("--sentinel", settings.sentinel,
           "the URLs are those of the sentinels of this service; a fail-over is followed, and may "
           "lose locks")
        ->type_name("SERVICE")
        ->group(group);
    app.add_option("--prefix", settings.key_prefix,
           "the beginning of all keys; the same for all clients of the store")
        ->type_name("PREFIX")
        ->group(group);
    app.add_option("--table", settings.table,
           "the table of the locks in PostgreSQL or MariaDB; default " + std::string(default_table))
        ->type_name("TABLE")
        ->group(group);
    app.add_option("--acl", settings.acl,
           "who may use nodes in ZooKeeper that this program makes, scheme:id:permissions, as "
           "auth::cdrwa; repeated; default world:anyone:cdrwa; the same for all clients")
        ->type_name("ENTRY")
        ->allow_extra_args(false)
        ->group(group);
}

backend open_store(const store_settings& settings, use purpose)
{
    const std::string first = first_url(settings);
    if (settings.table != default_table && !is_postgresql(first) && !is_mysql(first))
        throw std::invalid_argument("--table is for PostgreSQL and MariaDB");
    if (!settings.acl.empty() && !is_zookeeper(first))
        throw std::invalid_argument("--acl is for ZooKeeper");
    if (is_postgresql(first))
        return open_postgresql(settings);
    if (is_mysql(first))
        return open_mysql(settings);
    if (is_zookeeper(first))
        return open_zookeeper(settings, purpose);
    if (is_etcd(first))
        return open_etcd(settings, purpose);
    return open_redis(settings, purpose);
}

std::chrono::milliseconds longest_validity(
    const store_settings& settings, std::chrono::milliseconds ttl)
{
    constexpr std::chrono::seconds usual_limit(40); // 20 ticks of 2 s
    return is_zookeeper(first_url(settings)) ? std::min<std::chrono::milliseconds>(ttl, usual_limit)
                                             : ttl;
}

std::vector<backend> open_each_node(const store_settings& settings)
{
    backend whole = open_store(settings, use::looking); // checks all settings
    const std::string first = first_url(settings);
    if (is_etcd(first))
        return open_each_member_of_etcd(settings);
    if (is_zookeeper(first))
        return open_each_server_of_zookeeper(settings);
    return {std::move(whole)};
}

// All between one "://" and the next is looked at: a password may have any characters.
bool has_password(const std::string& word)
{
    if (has_password_of_postgresql(word))
        return true;
    for (auto scheme = word.find("://"); scheme != word.npos;) {
        const auto next = word.find("://", scheme + 3);
        const std::string rest =
            word.substr(scheme + 3, next == word.npos ? next : next - scheme - 3);
        const auto at = rest.rfind('@'), colon = rest.find(':');
        if (at != rest.npos && colon < at)
            return true;
        scheme = next;
    }
    return false;
}

} // namespace holdfast::cli
