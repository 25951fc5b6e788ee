#include "postgresql/server.hpp"

#include "postgresql/sqlstate.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::postgresql_store {

namespace {

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

server::server(std::shared_ptr<const settings> all, std::uint64_t jitter_seed)
    : settings_(std::move(all)),
      texts_(settings_->session.table),
      session_settings_(settings_->session),
      rotation_(settings_->connection.servers.size(),
          {settings_->reconnect_min, settings_->reconnect_max}, jitter_seed),
      link_(settings_->connection, *this),
      session_(session_settings_, texts_, *this)
{
    session_settings_.channel = channel_of(jitter_seed);
    for (const server_address& each : settings_->connection.servers)
        records_.emplace_back(each.name);
}

void server::send(const sql::statement& what, core::time_point now)
{
    sent_ = now;
    ++record().stats().commands;
    session_.send(what);
}

void server::ask(const sql::question& what, core::time_point now)
{
    sent_ = now;
    ++record().stats().commands;
    session_.ask(what);
}

// A claim that begins before the greeting is over is told, if a connection can tell at all.
std::string_view server::address() const noexcept
{
    return session_.is_told() ? std::string_view(session_settings_.channel) : std::string_view();
}

core::time_point server::wake_at() const noexcept
{
    if (active_)
        return up_ ? core::never : ready_by_;
    return link_.is_idle() ? rotation_.next_at() : core::never;
}

void server::wake(core::time_point now)
{
    if (active_ && !up_ && now >= ready_by_)
        return fail(errc::no_reply, "no connection in time", now);
    if (active_ || now < rotation_.next_at() || !link_.is_idle())
        return;
    active_ = true;
    ready_by_ = now + settings_->connect_timeout;
    link_.begin(rotation_.current());
}

void server::close(core::time_point)
{
    active_ = up_ = false;
    rotation_.stop();
    session_.end();
    link_.close();
}

std::vector<node_stats> server::stats() const
{
    std::vector<node_stats> all;
    for (std::size_t i = 0; i < records_.size(); ++i) {
        const bool current = active_ && i == rotation_.current();
        all.push_back(records_[i].told(current && up_, current));
    }
    return all;
}

void server::on_connected(int process, core::time_point)
{
    session_.begin(process);
}

void server::on_error(std::string_view state, std::string text)
{
    if (up_)
        ++record().stats().errors;
    session_.on_error(state, std::move(text));
}

void server::on_lost(std::string_view message, core::time_point now)
{
    const sql::failure why = connection_failure_of(message);
    fail(why.reason, why.text, now);
}

bool server::has_query() const noexcept
{
    return session_.has_query() || (up_ && session_.is_ready() && owner_->has_statement());
}

std::optional<query> server::next_query(core::time_point now)
{
    if (!session_.has_query() && up_ && session_.is_ready())
        owner_->send_statement(now);
    return session_.next_query(now);
}

void server::on_ready(std::int64_t clock, core::time_point asked, core::time_point now)
{
    up_ = true;
    rotation_.worked();
    record().worked();
    ++record().stats().connects;
    if (journal_ != nullptr)
        journal_->note({.kind = event::type::node_up,
                           .level = event_level::info,
                           .node = record().stats().address},
            now);
    owner_->on_up(clock, asked, now);
}

void server::on_answer(const sql::answer& what, core::time_point now)
{
    note_answer(now);
    owner_->on_answer(what, now);
}

void server::on_reply(const sql::reply& what, core::time_point now)
{
    note_answer(now);
    owner_->on_reply(what, now);
}

void server::on_failure(const sql::failure& why, core::time_point now)
{
    if (why.what == sql::failure::remedy::reconnect)
        return fail(why.reason, why.text, now);
    note_answer(now);
    if (why.what == sql::failure::remedy::refuse)
        record().failed(why.reason, make_error_code(why.reason), why.text);
    owner_->on_failure(why, now);
}

void server::note_answer(core::time_point now)
{
    rotation_.worked();
    record().worked();
    record().stats().latency.record(now - sent_);
}

void server::fail(errc why, std::string reason, core::time_point now)
{
    if (!active_)
        return;
    active_ = false;
    session_.end();
    link_.close();
    const bool hopeless = make_error_code(why) == condition::misconfigured;
    if (up_ && why == errc::no_reply)
        ++record().stats().timeouts;
    record().failed(why, make_error_code(why), std::move(reason));
    if (journal_ != nullptr)
        journal_->note({.kind = event::type::node_down,
                           .level = hopeless ? event_level::error : event_level::warning,
                           .node = record().stats().address,
                           .error = record().stats().last_error,
                           .text = record().stats().reason},
            now);
    const bool round_over = rotation_.failed(why, now);
    if (std::exchange(up_, false))
        owner_->on_down(now);
    if (round_over)
        owner_->on_cut_off(why, now);
}

} // namespace holdfast::postgresql_store
