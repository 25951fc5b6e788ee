#pragma once

#include "holdfast/duration.hpp"

#include <holdfast/endpoint.hpp>
#include <holdfast/redlock.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

inline constexpr const char* postgresql_table = "holdfast_locks";

/// The options that say where the locks are, and how to log in there. Every command has them.
struct store_settings {
    std::vector<std::string> stores; ///< URLs; one entry may have several, separated by commas
    std::string user, password_file;
    std::string ca_file, certificate_file, key_file;
    bool fenced = false;
    bool first_deployment = false;
    std::optional<duration> quarantine;
    bool primary = false;                 ///< the only URL is that of a primary with replicas
    std::string sentinel;                 ///< a service; the URLs are those of its sentinels
    std::string key_prefix;               ///< the beginning of every key
    std::string table = postgresql_table; ///< of the locks, in PostgreSQL
};

/// What a store is opened for.
enum class use {
    locking, ///< the locker keeps a client record, so that others see who holds its locks
    looking, ///< it takes part in no lock, and keeps no client record
    taking,  ///< as looking, and takes locks away from their holders; not in etcd
};

/// Adds these options to the parser.
void add_store_options(CLI::App& app, store_settings& settings);

/// The store with these settings. The password is that in the URL, or in the file, or in the
/// environment variable HOLDFAST_PASSWORD, in this order. The file is read again for each
/// connection. With sentinels, file and variable are for the primary.
///
/// Throws `std::invalid_argument` if there is no URL, a setting is wrong, a file cannot be read, or
/// the store does not serve the purpose.
/// No message contains a password.
backend open_store(const store_settings& settings, use purpose);

/// The same, for looking: stores that together reach every node. A client of etcd uses one member
/// at a time, so there is one store for each member.
std::vector<backend> open_each_node(const store_settings& settings);

/// Whether a word has a URL with a password.
bool has_password(const std::string& word);

} // namespace holdfast::cli
