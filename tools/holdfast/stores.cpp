#include "holdfast/stores.hpp"

#ifdef HOLDFAST_WITH_ETCD
#include <holdfast/etcd.hpp>
#endif
#ifdef HOLDFAST_WITH_POSTGRESQL
#include <holdfast/postgresql.hpp>
#endif
#ifdef HOLDFAST_WITH_TLS
#include <holdfast/tls.hpp>
#endif

#include <holdfast/redis.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp> // defines what App.hpp uses

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

std::vector<std::string> split(const std::vector<std::string>& lists)
{
    std::vector<std::string> urls;
    for (const std::string& list : lists) {
        std::size_t begin = 0;
        for (std::size_t comma = 0; comma != list.npos; begin = comma + 1) {
            comma = list.find(',', begin);
            const std::string part =
                list.substr(begin, comma == list.npos ? list.npos : comma - begin);
            const auto first = part.find_first_not_of(" \t\n");
            if (first != part.npos)
                urls.push_back(part.substr(first, part.find_last_not_of(" \t\n") - first + 1));
        }
    }
    return urls;
}

std::string read_password(const std::string& file)
{
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line))
        throw std::invalid_argument("the password file " + file +
                                    (in.is_open() ? " has no first line" : " cannot be read"));
    if (line.ends_with('\r'))
        line.pop_back();
    if (line.empty())
        throw std::invalid_argument("the first line of the password file " + file + " is empty");
    return line;
}

bool has_tls(const std::vector<endpoint>& nodes)
{
    for (const endpoint& node : nodes) {
        if (node.via() == endpoint::transport::tls)
            return true;
    }
    return false;
}

// That in the file, or else in the environment; empty if there is none. Checks that a user has one.
std::string password_of(const store_settings& settings)
{
    if (!settings.password_file.empty())
        return read_password(settings.password_file);
    const char* const variable = std::getenv("HOLDFAST_PASSWORD");
    const std::string password = variable == nullptr ? "" : variable;
    if (password.empty() && !settings.user.empty())
        throw std::invalid_argument("--user needs a password: set HOLDFAST_PASSWORD, or give "
                                    "--password-file");
    return password;
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

#ifdef HOLDFAST_WITH_TLS
std::optional<stream_layer> tls_of(
    const store_settings& settings, bool needed, std::vector<std::string> alpn = {})
{
    const bool given = !settings.ca_file.empty() || !settings.certificate_file.empty() ||
                       !settings.key_file.empty();
    if (given && !needed)
        throw std::invalid_argument(
            "--ca-file, --cert and --key are for stores with the scheme rediss or etcds");
    if (!needed)
        return std::nullopt;
    return tls({.ca_file = settings.ca_file,
        .certificate_file = settings.certificate_file,
        .key_file = settings.key_file,
        .alpn = std::move(alpn)});
}
#else
std::optional<stream_layer> tls_of(
    const store_settings&, bool needed, const std::vector<std::string>& = {})
{
    if (needed)
        throw std::invalid_argument("this program was built without TLS, which the schemes rediss "
                                    "and etcds need");
    return std::nullopt;
}
#endif

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

// `etcd://a,b,c` are three members: the scheme needs to stand only before the first one.
bool is_etcd(const std::vector<std::string>& urls)
{
    return urls.front().starts_with("etcd://") || urls.front().starts_with("etcds://");
}

#ifdef HOLDFAST_WITH_ETCD
std::vector<std::string> members_of(
    const std::vector<std::string>& urls, const store_settings& settings)
{
    if (settings.fenced || settings.primary || !settings.sentinel.empty())
        throw std::invalid_argument("--fenced, --primary and --sentinel are for Redis; all locks "
                                    "in etcd have fencing tokens");
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
#else
[[noreturn]] void reject_etcd()
{
    throw std::invalid_argument("this program was built without etcd");
}

std::vector<std::string> members_of(const std::vector<std::string>&, const store_settings&)
{
    reject_etcd();
}

backend open_members(const std::vector<std::string>&, const store_settings&)
{
    reject_etcd();
}
#endif

bool is_postgresql(const std::string& url)
{
    return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

#ifdef HOLDFAST_WITH_POSTGRESQL
// A URI of libpq may have commas: it lists its servers itself.
backend open_postgresql(const store_settings& settings)
{
    if (settings.stores.size() != 1)
        throw std::invalid_argument("--store has one URI for PostgreSQL, which names all servers");
    if (settings.fenced || settings.primary || !settings.sentinel.empty())
        throw std::invalid_argument("--fenced, --primary and --sentinel are for Redis; all locks "
                                    "in PostgreSQL have fencing tokens");
    if (!settings.key_prefix.empty())
        throw std::invalid_argument("--prefix is not for PostgreSQL: locks of other tables are "
                                    "other locks, see --table");
    if (!settings.ca_file.empty() || !settings.certificate_file.empty() ||
        !settings.key_file.empty())
        throw std::invalid_argument("--ca-file, --cert and --key are not for PostgreSQL: its URI "
                                    "has sslmode, sslrootcert, sslcert and sslkey");
    std::string uri = settings.stores.front();
    const auto add = [&uri](const std::string& name, const std::string& value) {
        constexpr std::string_view digits = "0123456789ABCDEF";
        uri += (uri.find('?') == uri.npos ? '?' : '&') + name + '=';
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
            uri += {'%', digits[byte >> 4u], digits[byte & 15u]};
        }
    };
    if (!settings.user.empty())
        add("user", settings.user);
    if (const std::string password = password_of(settings); !password.empty())
        add("password", password);
    postgresql_options options;
    options.client_name = "holdfast-cli";
    options.table = settings.table;
    return postgresql(uri, std::move(options));
}
#else
backend open_postgresql(const store_settings&)
{
    throw std::invalid_argument("this program was built without PostgreSQL");
}
#endif

// A service behind sentinels uses TLS throughout, or nowhere.
backend open_sentinels(
    std::vector<endpoint> nodes, const store_settings& settings, redlock_options&& options)
{
    sentinel_options all;
    all.sentinel_tls = options.tls;
    all.primary = std::move(options); // a password in a URL is for that sentinel
    return redis_sentinel(std::move(nodes), settings.sentinel, std::move(all));
}

} // namespace

void add_store_options(CLI::App& app, store_settings& settings)
{
    const std::string group = "Store";
    app.add_option("--store", settings.stores,
           "URL of a node, redis://host:port, rediss://host:port (TLS) or unix:///path, or of a "
           "member of etcd, etcd://host:port or etcds://host:port (TLS); repeated, or separated by "
           "commas; or one of PostgreSQL, postgresql://user@host:port/database; or in "
           "HOLDFAST_STORE")
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
#ifdef HOLDFAST_WITH_TLS
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
           "the table of the locks in PostgreSQL; default " + std::string(postgresql_table))
        ->type_name("TABLE")
        ->group(group);
}

backend open_store(const store_settings& settings, use purpose)
{
    if (!settings.stores.empty() && is_postgresql(settings.stores.front()))
        return open_postgresql(settings);
    if (settings.table != postgresql_table)
        throw std::invalid_argument("--table is for PostgreSQL");
    const std::vector<std::string> urls = split(settings.stores);
    check_kind(settings, urls.size());
    if (is_etcd(urls)) {
        if (purpose == use::taking)
            throw std::invalid_argument(
                "a lock in etcd cannot be taken away, because its holder would not be told: stop "
                "the holder, or end its session with etcdctl lease revoke");
        return open_members(members_of(urls, settings), settings);
    }

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

std::vector<backend> open_each_node(const store_settings& settings)
{
    std::vector<backend> all{open_store(settings, use::looking)};
    const std::vector<std::string> urls = split(settings.stores);
    if (!is_etcd(urls))
        return all;
    all.clear();
    for (const std::string& member : members_of(urls, settings))
        all.push_back(open_members({member}, settings));
    return all;
}

bool has_password(const std::string& word)
{
    for (const std::string& url : split({word})) {
        const auto scheme = url.find("://");
        if (scheme != url.npos && url.find('@', scheme) != url.npos)
            return true;
    }
    return false;
}

} // namespace holdfast::cli
