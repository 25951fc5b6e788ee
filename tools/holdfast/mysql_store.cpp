#include "holdfast/store_kinds.hpp"
#include "holdfast/store_parts.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/mysql.hpp>
#endif

#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast::cli {

bool is_mysql(const std::string& url)
{
    return url.starts_with("mysql://") || url.starts_with("mysqls://");
}

#ifdef HOLDFAST_WITH_MYSQL
namespace {

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("the URL of MariaDB: " + what);
}

std::optional<unsigned> digit(char c)
{
    constexpr std::string_view digits = "0123456789abcdef";
    const auto at = digits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
    return at == digits.npos ? std::nullopt : std::optional(static_cast<unsigned>(at));
}

// With %XX as one byte.
std::string decoded(std::string_view text)
{
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            all += text[i];
            continue;
        }
        const auto high = i + 1 < text.size() ? digit(text[i + 1]) : std::nullopt;
        const auto low = i + 2 < text.size() ? digit(text[i + 2]) : std::nullopt;
        if (!high || !low)
            reject("% must be followed by two hexadecimal digits");
        all += static_cast<char>(*high << 4u | *low);
        i += 2;
    }
    return all;
}

// mysql://[user[:password]@]host[:port][,host[:port]...]/database
struct address {
    explicit address(std::string_view url)
    {
        secure = url.starts_with("mysqls://");
        url.remove_prefix(url.find("://") + 3);
        if (const auto at = url.rfind('@'); at != url.npos) {
            const std::string_view login = url.substr(0, at);
            const auto colon = login.find(':');
            user = decoded(login.substr(0, colon));
            if (colon != login.npos)
                password = decoded(login.substr(colon + 1));
            url.remove_prefix(at + 1);
        }
        const auto slash = url.find('/');
        if (slash != url.npos)
            database = decoded(url.substr(slash + 1));
        if (database.empty())
            reject("there must be a database behind the hosts, /database");
        if (database.find_first_of("?/") != database.npos)
            reject("it ends with the database, and has no parameters");
        for (const std::string& host : split({std::string(url.substr(0, slash))}))
            hosts.push_back(decoded(host));
        if (hosts.empty())
            reject("there is no host");
    }

    std::vector<std::string> hosts;
    std::string user, password, database;
    bool secure = false;
};

} // namespace

backend open_mysql(const store_settings& settings)
{
    address where(only_url(settings, "MariaDB"));
    reject_options_of_redis(settings, "in MariaDB");
    if (!settings.key_prefix.empty())
        throw std::invalid_argument("--prefix is not for MariaDB: locks of other tables are other "
                                    "locks, see --table");
    check_tls_files(settings, where.secure);
    mysql_options options;
    options.client_name = "holdfast-cli";
    options.hosts = std::move(where.hosts);
    options.user = where.user.empty() ? settings.user : std::move(where.user);
    options.password = where.password.empty() ? password_of(settings) : std::move(where.password);
    options.database = std::move(where.database);
    options.table = settings.table;
    if (where.secure)
        options.tls = mysql_tls{.ca_file = settings.ca_file,
            .certificate_file = settings.certificate_file,
            .key_file = settings.key_file};
    return mysql(std::move(options));
}
#else
backend open_mysql(const store_settings&)
{
    throw std::invalid_argument("this program was built without MariaDB");
}
#endif

} // namespace holdfast::cli
