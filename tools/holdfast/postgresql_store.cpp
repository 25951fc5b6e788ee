#include "holdfast/store_kinds.hpp"
#include "holdfast/store_parts.hpp"

#ifdef HOLDFAST_WITH_POSTGRESQL
#include <holdfast/postgresql.hpp>

#include <libpq-fe.h>
#endif

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast::cli {

bool is_postgresql(const std::string& url)
{
    return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

#ifdef HOLDFAST_WITH_POSTGRESQL
// It may be a parameter, whose name may be encoded.
bool has_password_of_postgresql(const std::string& word)
{
    const auto begin = std::min(word.find("postgresql://"), word.find("postgres://"));
    if (begin == word.npos)
        return false;
    const std::unique_ptr<PQconninfoOption[], decltype(&::PQconninfoFree)> all(
        ::PQconninfoParse(word.c_str() + begin, nullptr), &::PQconninfoFree);
    for (const PQconninfoOption* each = all.get(); each != nullptr && each->keyword != nullptr;
         ++each) {
        const std::string_view name = each->keyword;
        if ((name == "password" || name == "sslpassword") && each->val != nullptr)
            return true;
    }
    return false;
}

// A URI of libpq may have commas: it lists its servers itself.
backend open_postgresql(const store_settings& settings)
{
    std::string uri = only_url(settings, "PostgreSQL");
    reject_options_of_redis(settings, "in PostgreSQL");
    if (!settings.key_prefix.empty())
        throw std::invalid_argument("--prefix is not for PostgreSQL: locks of other tables are "
                                    "other locks, see --table");
    if (has_tls_files(settings))
        throw std::invalid_argument("--ca-file, --cert and --key are not for PostgreSQL: its URI "
                                    "has sslmode, sslrootcert, sslcert and sslkey");
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
bool has_password_of_postgresql(const std::string&)
{
    return false;
}

backend open_postgresql(const store_settings&)
{
    throw std::invalid_argument("this program was built without PostgreSQL");
}
#endif

} // namespace holdfast::cli
