#include "zookeeper/lookups.hpp"

#include "core/owner_text.hpp"
#include "zookeeper/failure.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace holdfast::zookeeper_store {

using core::inspection_task;
using core::time_point;

namespace {

constexpr core::duration longest_look = std::chrono::seconds(10),
                         longest_list = std::chrono::minutes(1);

} // namespace

lookups::lookups(const servers& all, requester& out, claim_course& course, const node_paths& paths,
    std::string client_name, std::uint32_t id)
    : servers_(all),
      out_(out),
      course_(course),
      paths_(paths),
      client_name_(std::move(client_name)),
      id_(id)
{}

void lookups::introduce(const core::client_identity& self, time_point)
{
    course_.introduce(core::value_of(client_name_, self));
}

void lookups::begin(const core::inspection_request& request, time_point now)
{
    if (request.task == inspection_task::force_release)
        return refuse(request.tag, request.task, errc::unreachable);
    if (servers_.cut_off() != errc{})
        return refuse(request.tag, request.task, reason_or_unreachable(servers_.cut_off()));
    const bool is_list = request.task == inspection_task::list;
    const auto [each, is_new] = all_.emplace(
        ++last_, lookup{.what = survey(request.task, paths_, std::string(request.name)),
                     .until = now + (is_list ? longest_list : longest_look),
                     .tag = request.tag});
    ask(each, now);
}

void lookups::forget(std::uint64_t tag)
{
    std::erase_if(all_, [tag](const auto& each) { return each.second.tag == tag; });
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
    for (auto each = all_.begin(); each != all_.end();)
        ask(each++, now);
}

void lookups::disconnected()
{
    // An answer that is too long, or takes too long, ends the connection each time.
    constexpr unsigned most_losses = 3;
    for (auto each = all_.begin(); each != all_.end();) {
        const auto present = each++;
        lookup& l = present->second;
        if (std::exchange(l.asked, false) && ++l.losses == most_losses) {
            give_up(present, errc::no_reply);
            continue;
        }
        l.what.restart();
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
    if (!out_.can_send())
        return; // connected() asks
    if (auto question = l.what.next()) {
        l.asked = true;
        return out_.send(request::kind::question, each->first, std::move(*question), now);
    }
    core::inspection_result& result = results_.emplace_back();
    result.tag = l.tag;
    std::visit(
        [&](auto&& found) { result.found = std::forward<decltype(found)>(found); }, l.what.found());
    all_.erase(each);
}

void lookups::answered(
    const request& r, std::int32_t error, const wire::reply_body& body, time_point now)
{
    const auto each = all_.find(r.claim);
    if (each == all_.end())
        return;
    each->second.asked = false;
    if (each->second.what.read(error, body))
        ask(each, now);
    else
        give_up(each, failure_of(error).reason);
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
    refuse(each->second.tag, each->second.what.task(), reason);
    all_.erase(each);
}

time_point lookups::wake_at() const noexcept
{
    time_point next = core::never;
    for (const auto& [number, each] : all_)
        next = std::min(next, each.until);
    return next;
}

void lookups::wake(time_point now)
{
    for (auto each = all_.begin(); each != all_.end();) {
        const auto one = each++;
        if (one->second.until <= now)
            give_up(one, one->second.asked ? errc::no_reply : errc::unreachable);
    }
}

} // namespace holdfast::zookeeper_store
