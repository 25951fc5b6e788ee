#include "redis/node/node_health.hpp"

#include <utility>

namespace holdfast::redis {

void node_health::on_ready()
{
    forget();
    ++connects_;
}

void node_health::on_lost(failure why)
{
    failure_ = std::move(why);
    trouble_ = {};
}

void node_health::on_shut(const failure& before)
{
    if (before.code)
        failure_ = {before.code, before.text + " (before the locker was closed)"};
}

void node_health::on_timeout()
{
    ++timeouts_;
    if (!failure_.code)
        failure_ = {errc::no_reply, "no answer in time"};
}

void node_health::on_refused(request_kind kind, const failure& why)
{
    failure_ = why;
    refused_kind_ = kind;
}

void node_health::forget() noexcept
{
    failure_ = {};
    refused_kind_.reset();
}

void node_health::note_trouble(failure why)
{
    trouble_ = std::move(why);
}

node_stats node_health::stats() const
{
    return {.address = {},
        .connected = false,
        .last_error = worst().code,
        .reason = worst().text,
        .commands = commands_,
        .timeouts = timeouts_,
        .connects = connects_};
}

} // namespace holdfast::redis
