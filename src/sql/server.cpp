#include "sql/server.hpp"

#include <utility>

namespace holdfast::sql {

server::server(const server_settings& all, const make_connection& make, std::uint64_t jitter_seed)
    : names_(all.names),
      connect_timeout_(all.connect_timeout),
      rotation_(names_.size(), {all.reconnect_min, all.reconnect_max}, jitter_seed),
      connection_(make(*this)),
      descriptors_{&connection_->socket()}
{
    for (const std::string& each : names_)
        records_.emplace_back(each);
}

void server::send(const statement& what, core::time_point now)
{
    sent_ = now;
    ++record().stats().commands;
    connection_->send(what);
}

void server::ask(const question& what, core::time_point now)
{
    sent_ = now;
    ++record().stats().commands;
    connection_->ask(what);
}

core::time_point server::wake_at() const noexcept
{
    if (active_)
        return up_ ? core::never : ready_by_;
    return connection_->is_idle() ? rotation_.next_at() : core::never;
}

void server::wake(core::time_point now)
{
    if (active_ && !up_ && now >= ready_by_)
        return fail(errc::no_reply, "no connection in time", now);
    if (active_ || now < rotation_.next_at() || !connection_->is_idle())
        return;
    active_ = true;
    ready_by_ = now + connect_timeout_;
    connection_->begin(rotation_.current());
}

void server::close(core::time_point)
{
    active_ = up_ = false;
    rotation_.stop();
    connection_->end();
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

void server::on_answer(const answer& what, core::time_point now)
{
    note_answer(now);
    owner_->on_answer(what, now);
}

void server::on_reply(const reply& what, core::time_point now)
{
    note_answer(now);
    owner_->on_reply(what, now);
}

void server::on_failure(const failure& why, core::time_point now)
{
    if (up_ && why.was_told)
        ++record().stats().errors;
    if (why.what == failure::remedy::reconnect)
        return fail(why.reason, why.text, now);
    note_answer(now);
    if (why.what == failure::remedy::refuse)
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
    connection_->end();
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

} // namespace holdfast::sql
