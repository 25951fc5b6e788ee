#include "postgresql/connection.hpp"

#include "core/backoff.hpp"
#include "postgresql/sqlstate.hpp"

#include <utility>

namespace holdfast::postgresql_store {

namespace {

// Processes to be ended that a locker remembers for each server.
constexpr std::size_t most_left = 64;

// Other lockers have other channels.
std::string channel_of(std::uint64_t seed)
{
    constexpr std::string_view digits = "0123456789abcdef";
    core::jitter random(seed);
    std::uint64_t bits = random.next();
    std::string name = "holdfast_";
    for (int i = 0; i < 16; ++i, bits >>= 4u)
        name += digits[bits & 15u];
    return name;
}

} // namespace

connection::connection(
    std::shared_ptr<const settings> all, std::uint64_t seed, sql::connection_owner& owner)
    : settings_(std::move(all)),
      texts_(settings_->session.table),
      session_settings_(settings_->session),
      owner_(owner),
      link_(settings_->connection, *this),
      session_(session_settings_, texts_, owner),
      left_(settings_->connection.servers.size())
{
    for (auto& each : left_)
        each.reserve(most_left);
    session_settings_.channel = channel_of(seed);
}

void connection::begin(std::size_t server)
{
    server_ = server;
    link_.begin(server);
}

void connection::on_connected(int process, core::time_point)
{
    session_.begin(process, left_[server_]);
}

void connection::end() noexcept
{
    if (const auto process = session_.at_work()) {
        std::vector<server_process>& left = left_[server_];
        if (left.size() == most_left)
            left.erase(left.begin());
        left.push_back(*process);
    }
    session_.end();
    link_.close();
}

// A claim that begins before the greeting is over is told, if a connection can tell at all.
std::string_view connection::address() const noexcept
{
    return session_.is_told() ? std::string_view(session_settings_.channel) : std::string_view();
}

void connection::on_lost(std::string_view message, core::time_point now)
{
    owner_.on_failure(connection_failure_of(message), now);
}

bool connection::has_query() const noexcept
{
    return session_.has_query() || (session_.is_ready() && owner_.has_statement());
}

std::optional<query> connection::next_query(core::time_point now)
{
    if (!session_.has_query() && session_.is_ready() && owner_.has_statement())
        owner_.send_statement(now);
    return session_.next_query(now);
}

} // namespace holdfast::postgresql_store
