#pragma once

#include "holdfast/stores.hpp"

#include <holdfast/stream_layer.hpp>

#include <optional>
#include <string>
#include <vector>

// What the kinds of stores share.
namespace holdfast::cli {

/// The entries of lists that are separated by commas.
std::vector<std::string> split(const std::vector<std::string>& lists);

/// The first line of a file. Throws `std::invalid_argument`.
std::string read_password(const std::string& file);

/// The password in the file, or else in the environment; empty if there is none. Throws
/// `std::invalid_argument` if there is a user without one, or the file cannot be read.
std::string password_of(const store_settings& settings);

/// Whether files for TLS were given.
bool has_tls_files(const store_settings& settings);

/// Throws `std::invalid_argument` if these files were given and TLS is not wanted.
void check_tls_files(const store_settings& settings, bool wanted);

/// The TLS of this program's own connections, if the scheme of the store wants it. Throws
/// `std::invalid_argument` if it was built without, or files were given without need.
std::optional<stream_layer> tls_of(
    const store_settings& settings, bool wanted, std::vector<std::string> alpn = {});

/// Throws `std::invalid_argument` if there are options that only Redis has. `where`: "in etcd".
void reject_options_of_redis(const store_settings& settings, const std::string& where);

/// The only entry of --store: a URL that names all servers. Throws `std::invalid_argument` if there
/// are several. `store`: "PostgreSQL".
const std::string& only_url(const store_settings& settings, const std::string& store);

} // namespace holdfast::cli
