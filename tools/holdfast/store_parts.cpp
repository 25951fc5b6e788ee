#include "holdfast/store_parts.hpp"

#ifdef HOLDFAST_WITH_TLS
#include <holdfast/tls.hpp>
#endif

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

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

bool has_tls_files(const store_settings& settings)
{
    return !settings.ca_file.empty() || !settings.certificate_file.empty() ||
           !settings.key_file.empty();
}

void check_tls_files(const store_settings& settings, bool wanted)
{
    if (has_tls_files(settings) && !wanted)
        throw std::invalid_argument("--ca-file, --cert and --key are for stores with the scheme "
                                    "rediss, etcds, zookeepers or mysqls");
}

std::optional<stream_layer> tls_of(
    const store_settings& settings, bool wanted, [[maybe_unused]] std::vector<std::string> alpn)
{
    check_tls_files(settings, wanted);
    if (!wanted)
        return std::nullopt;
#ifdef HOLDFAST_WITH_TLS
    return tls({.ca_file = settings.ca_file,
        .certificate_file = settings.certificate_file,
        .key_file = settings.key_file,
        .alpn = std::move(alpn)});
#else
    throw std::invalid_argument("this program was built without TLS, which the schemes rediss, "
                                "etcds and zookeepers need");
#endif
}

void reject_options_of_redis(const store_settings& settings, const std::string& where)
{
    if (settings.fenced || settings.quarantine || settings.first_deployment || settings.primary ||
        !settings.sentinel.empty())
        throw std::invalid_argument("--fenced, --primary and --sentinel are for Redis; all locks " +
                                    where + " have fencing tokens");
}

const std::string& only_url(const store_settings& settings, const std::string& store)
{
    if (settings.stores.size() != 1)
        throw std::invalid_argument(
            "--store has one URI for " + store + ", which names all servers");
    return settings.stores.front();
}

} // namespace holdfast::cli
