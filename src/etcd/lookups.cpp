#include "etcd/lookups.hpp"

#include "core/owner_text.hpp"
#include "etcd/failure.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace holdfast::etcd_store {

using core::inspection_task;
using core::time_point;

namespace {

constexpr core::duration longest_look = std::chrono::seconds(10),
                         longest_list = std::chrono::minutes(1);

} // namespace

lookups::lookups(members& servers, claim_desk& desk, std::string key_prefix,
    std::string client_name, std::uint32_t id)
    : members_(servers),
      desk_(desk),
      prefix_(std::move(key_prefix)),
      client_name_(std::move(client_name)),
      id_(id)
{}

void lookups::introduce(const core::client_identity& self, time_point)
{
    desk_.introduce(core::value_of(client_name_, self));
}

void lookups::begin(const core::inspection_request& request, time_point now)
{
    if (request.task == inspection_task::force_release)
        return refuse(request.tag, request.task, errc::unreachable);
    if (!members_.is_up() && members_.cut_off() != errc{})
        return refuse(request.tag, request.task, reason_or_unreachable(members_.cut_off()));
    const bool is_list = request.task == inspection_task::list;
    const auto [each, is_new] =
        all_.emplace(request.tag, lookup{survey(request.task, prefix_, std::string(request.name)),
                                      now + (is_list ? longest_list : longest_look)});
    ask(each, now);
}

void lookups::forget(std::uint64_t tag)
{
    if (const auto each = all_.find(tag); each != all_.end()) {
        if (each->second.call != 0 && members_.is_up())
            members_.current().calls().cancel(each->second.call);
        all_.erase(each);
    }
    std::erase_if(results_, [tag](const auto& result) { return result.tag == tag; });
}

std::optional<core::inspection_result> lookups::next_result()
{
    if (results_.empty())
        return std::nullopt;
    auto next = std::move(results_.front());
    results_.pop_front();
    return next;
}

void lookups::connected(time_point now)
{
    // A member that fails may end them all.
    for (auto each = all_.begin(); members_.is_up() && each != all_.end();)
        ask(each++, now);
}

void lookups::disconnected()
{
    for (auto& [tag, each] : all_) {
        each.call = 0;
        each.answer.reset();
        each.what.restart();
    }
}

void lookups::cut_off(errc why)
{
    while (!all_.empty())
        give_up(all_.begin(), reason_or_unreachable(why));
}

void lookups::ask(table::iterator each, time_point now)
{
    lookup& l = each->second;
    if (!members_.is_up())
        return; // connected() asks
    const auto question = l.what.next();
    if (!question) {
        core::inspection_result& result = results_.emplace_back();
        result.tag = each->first;
        std::visit([&](auto&& found) { result.found = std::forward<decltype(found)>(found); },
            l.what.found());
        all_.erase(each);
        return;
    }
    const wire::stream_id call =
        members_.current().begin(question->path, question->message, false, false);
    if (call == 0)
        return members_.fail(errc::unreachable, "the connection can make no more calls", now);
    l.call = call;
    l.sent = now;
}

bool lookups::take(const wire::arrival& what, time_point now)
{
    const auto each = std::find_if(all_.begin(), all_.end(),
        [&what](const auto& one) { return one.second.call == what.call; });
    if (each == all_.end())
        return false;
    lookup& l = each->second;
    if (!what.ended) {
        l.answer = what.text;
        return true;
    }
    l.call = 0;
    const auto answer = std::exchange(l.answer, std::nullopt);
    node_stats& stats = members_.current().record().stats();
    stats.latency.record(now - l.sent);
    if (*what.ended != wire::status::ok || !answer) {
        ++stats.errors;
        failed(each, *what.ended == wire::status::ok ? -1 : *what.ended, what.text, now);
    } else if (l.what.read(*answer)) {
        members_.note_success();
        ask(each, now);
    } else {
        members_.fail(errc::protocol_error, "an answer that is no message of etcd", now);
    }
    return true;
}

void lookups::failed(table::iterator each, int status, const std::string& text, time_point now)
{
    const failure f = failure_of(status, text);
    if (members_.can_mend(f))
        return members_.fail(f.reason, text, now);
    if (each->second.what.skip())
        return ask(each, now);
    give_up(each, f.reason);
}

void lookups::refuse(std::uint64_t tag, inspection_task task, errc reason)
{
    core::inspection_result& result = results_.emplace_back();
    result.tag = tag;
    result.reason = reason;
    if (task == inspection_task::list)
        result.found = lock_list();
    else if (task == inspection_task::force_release)
        result.found = forced_release();
}

void lookups::give_up(table::iterator each, errc reason)
{
    refuse(each->first, each->second.what.task(), reason);
    all_.erase(each);
}

time_point lookups::waits_since() const noexcept
{
    time_point since = core::never;
    for (const auto& [tag, each] : all_)
        since = each.call == 0 ? since : std::min(since, each.sent);
    return since;
}

time_point lookups::wake_at() const noexcept
{
    time_point next = core::never;
    for (const auto& [tag, each] : all_)
        next = std::min(next, each.until);
    return next;
}

void lookups::wake(time_point now)
{
    for (auto each = all_.begin(); each != all_.end();) {
        const auto one = each++;
        if (one->second.until > now)
            continue;
        const bool asked = one->second.call != 0;
        if (asked && members_.is_up())
            members_.current().calls().cancel(one->second.call);
        give_up(one, asked ? errc::no_reply : errc::unreachable);
    }
}

} // namespace holdfast::etcd_store
