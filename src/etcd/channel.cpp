#include "etcd/channel.hpp"

#include <utility>

namespace holdfast::etcd_store {

channel::channel(
    const cluster_settings& settings, const member_address& member, channel_owner& owner)
    : settings_(settings),
      member_(member),
      owner_(owner),
      record_(member.name)
{}

void channel::start(core::time_point now)
{
    state_ = state::opening;
    opening_ends_ = now + settings_.connect_timeout;
}

void channel::stop() noexcept
{
    if (wants_open())
        state_ = state::closing;
    opening_ends_ = core::never;
}

void channel::fail(errc why, std::string reason, core::time_point now)
{
    if (!wants_open())
        return;
    record_.failed(why, make_error_code(why), std::move(reason));
    stop();
    owner_.on_failed(*this, now);
}

wire::stream_id channel::begin(
    std::string_view path, std::string_view message, bool needs_leader, bool more_messages)
{
    ++record_.stats().commands;
    return calls_->begin(path, message,
        {.token = login_.token(), .needs_leader = needs_leader, .more_messages = more_messages});
}

void channel::opened(core::time_point now)
{
    if (state_ != state::opening)
        return;
    calls_.emplace(member_.name, member_.secure);
    login_.forget();
    out_.clear();
    if (settings_.user.empty())
        return become_ready(now);
    state_ = state::login;
    login_.begin(*calls_, settings_);
}

void channel::become_ready(core::time_point now)
{
    state_ = state::ready;
    opening_ends_ = core::never;
    ++record_.stats().connects;
    owner_.on_ready(*this, now);
}

void channel::closed(error_code why, core::time_point now)
{
    const bool was_wanted = wants_open();
    state_ = state::idle;
    opening_ends_ = core::never;
    calls_.reset();
    out_.clear();
    if (!was_wanted)
        return;
    const auto tls_failed = make_error_code(errc::tls_failed);
    const bool by_tls = why.default_error_condition() == tls_failed.default_error_condition();
    record_.failed(
        by_tls ? errc::tls_failed : errc::unreachable, by_tls ? tls_failed : why, why.message());
    owner_.on_failed(*this, now);
}

void channel::received(std::size_t n, core::time_point now)
{
    if (!calls_ || !wants_open())
        return;
    const bool good = calls_->receive({arrived_.data(), n});
    while (wants_open()) {
        const auto what = calls_->next();
        if (!what)
            break;
        if (!login_.is_of(what->call))
            owner_.on_arrival(*what, now);
        else if (const auto result = login_.take(*what); !result)
            continue;
        else if (result->trouble == errc{})
            become_ready(now);
        else
            fail(result->trouble, result->reason, now);
    }
    if (!good)
        fail(errc::protocol_error, calls_->trouble(), now);
    else if (calls_->going_away())
        fail(errc::unreachable, "the server shuts down", now);
}

std::size_t channel::unsent() const noexcept
{
    if (!calls_ || !wants_open())
        return 0;
    const bool more = calls_->has_output() || (is_ready() && owner_.has_requests());
    return out_.size() + (more ? 1 : 0);
}

void channel::prepare_output()
{
    if (!calls_ || !wants_open())
        return;
    if (is_ready())
        owner_.gather_requests();
    out_.append(calls_->take_output());
}

} // namespace holdfast::etcd_store
