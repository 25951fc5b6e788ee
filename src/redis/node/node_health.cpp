#include "redis/node/node_health.hpp"

#include <utility>

namespace holdfast::redis {

void node_health::on_ready(std::string_view run_id)
{
    forget();
    ++counts_.connects;
    if (run_id.empty())
        return;
    if (!run_id_.empty() && run_id != run_id_)
        ++counts_.restarts;
    run_id_ = run_id;
}

void node_health::on_lost(failure why)
{
    failure_ = std::move(why);
    trouble_ = {};
    endless_key_.clear();
}

void node_health::on_shut(const failure& before)
{
    if (before.code)
        failure_ = {before.code, before.text + " (before the locker was closed)"};
}

void node_health::on_timeout()
{
    ++counts_.timeouts;
    if (!failure_.code)
        failure_ = {errc::no_reply, "no answer in time"};
}

void node_health::on_refused(request_kind kind, const failure& why)
{
    ++counts_.errors;
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
    node_stats all = counts_;
    all.last_error = worst().code;
    all.reason = worst().text;
    if (!endless_key_.empty()) {
        all.reason += all.reason.empty() ? "" : "; ";
        all.reason += "the key " + printable(endless_key_) +
                      " was found without a ttl, so it does not end by itself";
    }
    return all;
}

} // namespace holdfast::redis
