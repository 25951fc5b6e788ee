#pragma once

#include "holdfast/duration.hpp"

#include <holdfast/endpoint.hpp>
#include <holdfast/redlock.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

inline constexpr const char* default_table = "holdfast_locks";

/// The options that say where the locks are, and how to log in there. Every command has them.
struct store_settings {
    std::vector<std::string> stores; ///< URLs; one entry may have several, separated by commas
    std::string user, password_file;
    std::string ca_file, certificate_file, key_file;
    bool fenced = false;
    bool first_deployment = false;
    std::optional<duration> quarantine;
    bool primary = false;              ///< the only URL is that of a primary with replicas
    std::string sentinel;              ///< a service; the URLs are those of its sentinels
    std::string key_prefix;            ///< the beginning of every key
    std::string table = default_table; ///< of the locks, in PostgreSQL and MariaDB
    /// That of the locks that are taken. Sessions of ZooKeeper last as long after a crash.
    std::optional<std::chrono::milliseconds> ttl;
    std::vector<std::string> acl; ///< of the nodes that are made in ZooKeeper
};

/// What a store is opened for.
enum class use {
    locking, ///< the locker keeps a client record, so that others see who holds its locks
    looking, ///< it takes part in no lock, and keeps no client record
    taking,  ///< as looking, and takes locks away from their holders; not in etcd and ZooKeeper
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

/// How long a lease with this ttl can be valid: in ZooKeeper no longer than a session, which its
/// servers limit to 40 s by default.
std::chrono::milliseconds longest_validity(
    const store_settings& settings, std::chrono::milliseconds ttl);

/// As `open_store()`, for looking: stores that together reach every node. A client of etcd or
/// ZooKeeper uses one server at a time, so there is one store for each server.
std::vector<backend> open_each_node(const store_settings& settings);

/// Whether a word has a URL with a password. A user alone is none.
bool has_password(const std::string& word);

} // namespace holdfast::cli
