#include <holdfast/postgresql.hpp>

#include "core/backend.hpp"
#include "postgresql/connection.hpp"
#include "postgresql/conninfo.hpp"
#include "sql/lock_core.hpp"
#include "sql/server.hpp"
#include "sql/text.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::size_t longest_client_name = 63;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: postgresql: " + what);
}

void check_range(const char* name, milliseconds value, milliseconds low, milliseconds high)
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + std::to_string(value.count()) +
               " ms; it must be from " + std::to_string(low.count()) + " to " +
               std::to_string(high.count()) + " ms");
}

void check(const postgresql_options& o)
{
    if (!sql::is_table_name(o.table))
        reject("table must be a name of small letters, digits and _, at most 63 of them, with or "
               "without a schema before it");
    const bool plain = std::all_of(
        o.client_name.begin(), o.client_name.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!plain || o.client_name.size() > longest_client_name)
        reject("client_name must be at most 63 printable characters without a space");
    if (o.request_timeout)
        check_range("request_timeout", *o.request_timeout, 10ms, 60s);
    check_range("connect_timeout", o.connect_timeout, 1ms, 60s);
    check_range("reconnect_min", o.reconnect_min, 1ms, 1h);
    check_range("reconnect_max", o.reconnect_max, o.reconnect_min, 1h);
}

class postgresql_factory final : public core::backend_factory {
public:
    postgresql_factory(postgresql_store::settings all, sql::server_settings servers,
        core::duration request_timeout)
        : settings_(std::make_shared<const postgresql_store::settings>(std::move(all))),
          servers_(std::move(servers)),
          request_timeout_(request_timeout)
    {}

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        // Several servers: one primary, and standbys that may be behind.
        const bool fails_over = servers_.names.size() > 1;
        return std::make_unique<sql::lock_core>(
            sql::lock_settings{
                .about = {.name = "postgresql",
                    .promise = fails_over ? guarantee::primary : guarantee::one_node},
                .request_timeout = request_timeout_},
            std::make_unique<sql::server>(
                servers_,
                [&](sql::connection_owner& owner) {
                    return std::make_unique<postgresql_store::connection>(
                        settings_, jitter_seed, owner);
                },
                jitter_seed),
            jitter_seed);
    }

private:
    const std::shared_ptr<const postgresql_store::settings> settings_;
    const sql::server_settings servers_;
    const core::duration request_timeout_;
};

} // namespace

backend postgresql(const std::string& conninfo, postgresql_options options)
{
    check(options);
    postgresql_store::settings all;
    all.connection = postgresql_store::parse_conninfo(conninfo);
    all.connection.others.emplace_back("fallback_application_name", options.client_name);
    all.session.table = std::move(options.table);
    all.session.create_table = options.create_table;
    all.session.allow_asynchronous_commit = options.allow_asynchronous_commit;
    all.session.longest_statement = options.request_timeout.value_or(2s);
    sql::server_settings servers{.names = {},
        .connect_timeout = options.connect_timeout,
        .reconnect_min = options.reconnect_min,
        .reconnect_max = options.reconnect_max};
    for (const postgresql_store::server_address& each : all.connection.servers)
        servers.names.push_back(each.name);
    return backend(std::make_shared<postgresql_factory>(
        std::move(all), std::move(servers), options.request_timeout.value_or(0ms)));
}

} // namespace holdfast
