#pragma once

#include "support/child_process.hpp"
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::test {

/// A PgBouncer before a server, on a free port of 127.0.0.1. The destructor stops it.
class pgbouncer {
public:
    /// Returns when it answers. `mode`: `transaction`, `session` or `statement`. It keeps `most`
    /// connections to the server. Throws `std::runtime_error`. The server outlives it.
    pgbouncer(const postgres_server& server, const std::string& mode, int most);
    pgbouncer(pgbouncer&&) = delete;

    /// The connection string for libpq.
    std::string where() const;

private:
    void write_settings(const std::string& mode, int most) const;

    const postgres_server& server_;
    temporary_folder folder_{"pgbouncer"};
    std::uint16_t port_ = 0;
    std::optional<child_process> process_;
};

} // namespace holdfast::test
