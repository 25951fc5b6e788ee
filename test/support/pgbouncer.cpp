#include "support/pgbouncer.hpp"

#include "support/redis_server.hpp"
#include "support/server_user.hpp"

#include <libpq-fe.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace holdfast::test {

using namespace std::chrono_literals;

pgbouncer::pgbouncer(const postgres_server& server, const std::string& mode, int most)
    : server_(server)
{
    give_to_server_user(folder_.path());
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    // Another process may take a port between the check and the start.
    while (std::chrono::steady_clock::now() < deadline) {
        port_ = free_port();
        write_settings(mode, most);
        process_.emplace(as_server_user({HOLDFAST_PGBOUNCER, "--quiet", folder_.path() + "/ini"}),
            child_options{.piped = child_options::pipes::none});
        while (process_->running() && std::chrono::steady_clock::now() < deadline) {
            if (::PQping(where().c_str()) == PQPING_OK)
                return;
            std::this_thread::sleep_for(10ms);
        }
    }
    throw std::runtime_error("PgBouncer did not start");
}

// All clients are the user `shop` of the server, without a password.
void pgbouncer::write_settings(const std::string& mode, int most) const
{
    const std::string path = folder_.path() + "/ini";
    std::ofstream file(path, std::ios::trunc);
    file << "[databases]\npostgres = " << server_.address()
         << " user=shop dbname=postgres\n[pgbouncer]\nlisten_port = " << port_
         << "\nlisten_addr = 127.0.0.1\nunix_socket_dir =\nauth_type = any\npool_mode = " << mode
         << "\ndefault_pool_size = " << most
         << "\nmax_client_conn = 200\nlogfile = " << folder_.path() << "/log\n";
    file.close();
    give_to_server_user(path);
}

std::string pgbouncer::where() const
{
    return "host=127.0.0.1 port=" + std::to_string(port_) +
           " user=shop dbname=postgres connect_timeout=10";
}

} // namespace holdfast::test
