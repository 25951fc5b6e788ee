#include "redis/node_observer.hpp"

#include <utility>

namespace holdfast::redis {

using core::time_point;

void node_observer::compare(std::size_t node, time_point now)
{
    known& before = known_[node];
    if (!nodes_.is_ready(node))
        return tell_down(node, before, now);
    if (!nodes_.in_quarantine(node, now)) {
        if (before.is != state::up)
            tell_up(node, before, now);
        return;
    }
    if (before.is == state::quarantined)
        return;
    before.is = state::quarantined;
    const failure& why = nodes_[node].health().trouble();
    journal_->note({.kind = event::type::node_quarantined,
                       .level = event_level::warning,
                       .node = nodes_[node].name(),
                       .error = why.code,
                       .text = why.text},
        now);
}

void node_observer::tell_up(std::size_t node, known& before, time_point now)
{
    const std::uint64_t restarts = nodes_[node].health().restarts();
    event what{
        .kind = event::type::node_up, .level = event_level::info, .node = nodes_[node].name()};
    if (restarts != std::exchange(before.restarts, restarts)) {
        what.level = event_level::warning;
        what.text = "the server was restarted, or is another one";
    } else if (before.is == state::quarantined) {
        what.text = "the quarantine is over";
    }
    before.is = state::up;
    journal_->note(std::move(what), now);
}

void node_observer::tell_down(std::size_t node, known& before, time_point now)
{
    const failure& why = nodes_[node].health().last_failure();
    if (why.code == errc::closed || (before.is == state::down && before.reason == why.text))
        return;
    before.is = state::down;
    before.reason = why.text;
    journal_->note({.kind = event::type::node_down,
                       .level = why.code == condition::misconfigured ? event_level::error
                                                                     : event_level::warning,
                       .node = nodes_[node].name(),
                       .error = why.code,
                       .text = why.text},
        now);
}

void node_observer::mark_vote(
    std::uint64_t tag, std::size_t node, vote said, errc why, time_point now)
{
    errc reason{};
    if (said == vote::refused)
        reason = errc::contended;
    else if (said != vote::granted)
        reason = why != errc{} ? why : said == vote::unknown ? errc::no_reply : errc::node_error;
    journal_->mark({.kind = core::trace_mark::step::vote,
        .reason = reason,
        .node = static_cast<std::uint32_t>(node),
        .claim = tag,
        .at = now});
}

} // namespace holdfast::redis
