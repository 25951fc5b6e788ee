#include "sql/lookups.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sql {

using core::inspection_task;
using core::time_point;
using state = survey::state;
using namespace std::chrono_literals;

namespace {

constexpr core::duration longest_step = 2s, longest_list = 10min;
constexpr core::duration longest_hearing = 1s; // of an old holder that may be gone
constexpr core::duration longest_wait = 50ms;  // behind statements for locks
constexpr core::duration shortest_rest = 10ms, longest_rest = 50ms;
constexpr std::size_t most_debts = 1'000;

} // namespace

lookups::lookups(database& server, std::string store, core::duration patience, std::uint64_t seed)
    : database_(server),
      store_(std::move(store)),
      patience_(patience),
      id_(static_cast<std::uint32_t>(seed >> 32u | 1u)),
      jitter_(seed)
{}

void lookups::begin(const core::inspection_request& request, time_point now)
{
    const bool is_list = request.task == inspection_task::list;
    const auto [each, is_new] = all_.emplace(
        request.tag, lookup{.what = survey(request.task, std::string(request.name), store_),
                         .is_list = is_list,
                         .step_by = now + longest_step,
                         .all_by = is_list ? now + longest_list : core::never,
                         .since = now});
    if (!database_.is_up() && database_.cut_off() != errc{})
        give_up(each, reason_or_unreachable(database_.cut_off()));
}

void lookups::forget(std::uint64_t tag)
{
    all_.erase(tag);
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

// Who has waited longest.
std::uint64_t lookups::next() const noexcept
{
    std::uint64_t first = none;
    time_point since = core::never;
    for (const auto& [tag, each] : all_) {
        if (each.what.now() == state::asks && each.since < since) {
            first = tag;
            since = each.since;
        }
    }
    return first;
}

bool lookups::is_urgent(time_point now) const noexcept
{
    const auto first = all_.find(next());
    return (!debts_.empty() && debts_.front().since + longest_wait <= now) ||
           (first != all_.end() && first->second.since + longest_wait <= now);
}

void lookups::ask(time_point now)
{
    asked_ = under_way{.address = std::string(database_.address()), .due = now + patience_};
    if (!debts_.empty()) {
        const debt paid = std::move(debts_.front());
        debts_.pop_front();
        return database_.ask(
            {.what = question::kind::tell, .owner = paid.owner, .address = paid.address}, now);
    }
    asked_->tag = next();
    database_.ask(all_.at(asked_->tag).what.next(asked_->address), now);
}

void lookups::replied(const reply& what, time_point now)
{
    const auto over = std::exchange(asked_, std::nullopt);
    const auto each = over ? all_.find(over->tag) : all_.end();
    if (each == all_.end())
        return;
    each->second.what.read(what, over->address);
    follow(each, now);
}

void lookups::failed(const failure& why, time_point now)
{
    const auto over = std::exchange(asked_, std::nullopt);
    const auto each = over ? all_.find(over->tag) : all_.end();
    if (each == all_.end())
        return;
    if (why.what == failure::remedy::refuse)
        return give_up(each, why.reason);
    // Perhaps it has taken the resource already: once more, and it could take it from the next one.
    if (why.what == failure::remedy::later && each->second.what.takes())
        return give_up(each, errc::unreachable);
    each->second.what.put_off(
        why.what == failure::remedy::pass_over ? errc::contended : errc::unreachable);
    follow(each, now);
}

void lookups::follow(table::iterator each, time_point now)
{
    lookup& l = each->second;
    l.since = now;
    switch (l.what.now()) {
    case state::asks:
        if (l.is_list)
            l.step_by = now + longest_step;
        return;
    case state::rests:
        l.rests_until = now + jitter_.between(shortest_rest, longest_rest);
        return;
    case state::hears:
        l.step_by = now + longest_hearing;
        return;
    case state::over:
        return finish(each);
    }
}

// What only reads is asked again.
void lookups::disconnected()
{
    const auto over = std::exchange(asked_, std::nullopt);
    const auto each = over ? all_.find(over->tag) : all_.end();
    if (each != all_.end() && each->second.what.takes())
        give_up(each, errc::unreachable);
}

void lookups::cut_off(errc why)
{
    while (!all_.empty())
        give_up(all_.begin(), why);
}

void lookups::owe_answer(std::string_view owner, std::string_view address, time_point now)
{
    if (debts_.size() < most_debts)
        debts_.push_back({std::string(owner), std::string(address), now});
}

void lookups::heard(std::string_view owner)
{
    for (auto each = all_.begin(); each != all_.end();) {
        const auto one = each++;
        one->second.what.heard(owner);
        if (one->second.what.now() == state::over)
            finish(one);
    }
}

time_point lookups::answer_due() const noexcept
{
    return asked_ ? asked_->due : core::never;
}

void lookups::overdue()
{
    if (const auto each = all_.find(asked_->tag); each != all_.end())
        give_up(each, errc::unreachable);
}

// Precondition: it is not over. What was taken is taken, whether or not its holder answers.
void lookups::give_up(table::iterator each, errc why)
{
    survey& what = each->second.what;
    what.give_up(what.now() == state::hears ? errc{} : why);
    finish(each);
}

void lookups::finish(table::iterator each)
{
    core::inspection_result& result = results_.emplace_back(std::move(each->second.what).result());
    result.tag = each->first;
    all_.erase(each);
}

time_point lookups::wake_at() const noexcept
{
    time_point next = core::never;
    for (const auto& [tag, each] : all_)
        next = std::min({next, each.step_by, each.all_by, each.rests_until});
    return next;
}

void lookups::wake(time_point now)
{
    for (auto each = all_.begin(); each != all_.end();) {
        const auto one = each++;
        lookup& l = one->second;
        if (l.all_by <= now) {
            give_up(one, errc{}); // as it is
        } else if (l.step_by <= now) {
            const errc known = l.what.reason();
            give_up(one, known == errc{} ? errc::unreachable : known);
        } else if (l.rests_until <= now) {
            l.rests_until = core::never;
            l.what.wake();
        }
    }
}

} // namespace holdfast::sql
