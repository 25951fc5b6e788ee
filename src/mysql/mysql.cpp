#include <holdfast/mysql.hpp>

#include "core/backend.hpp"
#include "mysql/connection.hpp"
#include "mysql/hosts.hpp"
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

constexpr std::size_t longest_client_name = 63, longest_user = 128, longest_password = 4096,
                      longest_database = 64, longest_path = 4096;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: mysql: " + what);
}

void check_range(const char* name, milliseconds value, milliseconds low, milliseconds high)
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + std::to_string(value.count()) +
               " ms; it must be from " + std::to_string(low.count()) + " to " +
               std::to_string(high.count()) + " ms");
}

void check_text(const char* name, const std::string& value, std::size_t least, std::size_t most)
{
    if (value.size() < least || value.size() > most || value.find('\0') != value.npos)
        reject(std::string(name) + " must have " + std::to_string(least) + " to " +
               std::to_string(most) + " bytes, none of them zero");
}

void check(const mysql_tls& o)
{
    check_text("tls.ca_file", o.ca_file, 0, longest_path);
    check_text("tls.certificate_file", o.certificate_file, 0, longest_path);
    check_text("tls.key_file", o.key_file, 0, longest_path);
    if (o.certificate_file.empty() != o.key_file.empty())
        reject("tls needs both certificate_file and key_file, or none of them");
}

void check(const mysql_options& o)
{
    check_text("user", o.user, 1, longest_user);
    check_text("password", o.password, 0, longest_password);
    check_text("database", o.database, 0, longest_database);
    if (!sql::is_table_name(o.table))
        reject("table must be a name of small letters, digits and _, at most 63 of them, with or "
               "without a database before it");
    if (o.database.empty() && o.table.find('.') == o.table.npos)
        reject("database is empty, and table names none");
    if (o.tls)
        check(*o.tls);
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

class mysql_factory final : public core::backend_factory {
public:
    mysql_factory(
        mysql_store::settings all, sql::server_settings servers, core::duration request_timeout)
        : settings_(std::make_shared<const mysql_store::settings>(std::move(all))),
          servers_(std::move(servers)),
          request_timeout_(request_timeout)
    {}

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        // Several servers: one primary, and replicas that may be behind.
        const bool fails_over = servers_.names.size() > 1;
        return std::make_unique<sql::lock_core>(
            sql::lock_settings{
                .about = {.name = "mysql",
                    .promise = fails_over ? guarantee::primary : guarantee::one_node},
                .request_timeout = request_timeout_},
            std::make_unique<sql::server>(
                servers_,
                [this](sql::connection_owner& owner) {
                    return std::make_unique<mysql_store::connection>(settings_, owner);
                },
                jitter_seed),
            jitter_seed);
    }

private:
    const std::shared_ptr<const mysql_store::settings> settings_;
    const sql::server_settings servers_;
    const core::duration request_timeout_;
};

mysql_store::link_settings link_of(mysql_options& o)
{
    mysql_store::link_settings made;
    made.servers = mysql_store::parse_hosts(o.hosts);
    made.user = std::move(o.user);
    made.password = std::move(o.password);
    made.database = std::move(o.database);
    made.client_name = std::move(o.client_name);
    made.connect_timeout = o.connect_timeout;
    if (o.tls) {
        made.encrypts = true;
        made.accepts_any_certificate = o.tls->accept_any_certificate;
        made.ca_file = std::move(o.tls->ca_file);
        made.certificate_file = std::move(o.tls->certificate_file);
        made.key_file = std::move(o.tls->key_file);
    }
    return made;
}

} // namespace

backend mysql(mysql_options options)
{
    check(options);
    mysql_store::settings all;
    all.link = link_of(options);
    all.session.table = std::move(options.table);
    all.session.create_table = options.create_table;
    all.session.allow_asynchronous_commit = options.allow_asynchronous_commit;
    all.session.longest_statement = options.request_timeout.value_or(2s);
    sql::server_settings servers{.names = {},
        .connect_timeout = options.connect_timeout,
        .reconnect_min = options.reconnect_min,
        .reconnect_max = options.reconnect_max};
    for (const mysql_store::server_address& each : all.link.servers)
        servers.names.push_back(each.name);
    return backend(std::make_shared<mysql_factory>(
        std::move(all), std::move(servers), options.request_timeout.value_or(0ms)));
}

} // namespace holdfast
