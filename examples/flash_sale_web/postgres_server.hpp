#pragma once

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace flash_sale_web {

/// A PostgreSQL server with an empty database of its own, in a temporary folder. It listens on a
/// unix socket in that folder only. The destructor stops it and deletes everything.
///
/// PostgreSQL refuses to run as root; then it runs as the user `postgres`, which Debian's package
/// makes. It also ends with the thread that started it.
class postgres_server {
public:
    /// Returns when the server answers. Throws `std::runtime_error` with its own messages.
    postgres_server();
    ~postgres_server();

    /// The connection string for libpq.
    std::string where() const;

private:
    std::string log() const;

    holdfast::test::temporary_folder folder_{"postgres"};
    std::optional<holdfast::test::child_process> process_;
};

} // namespace flash_sale_web
