// How redlock_core finds out when a resource may be free.
#include "redis/redlock_core.hpp"
#include "resp/command.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::backend_event;
using core::event_kind;
using core::time_point;

void redlock_core::watch(std::uint64_t tag, std::string_view resource, time_point now)
{
    const std::string_view lock = lock_of(resource);
    const core::slot_id id = watches_.take();
    watched& w = watches_[id];
    w = {.tag = tag};
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        w.free_at[i] = core::never;
        const node_session& node = *sessions_[i];
        if (node.now() != node_session::reachability::ready || node.congested(now))
            continue;
        w.outstanding = static_cast<std::uint8_t>(w.outstanding + 2);
        command_.clear();
        resp::append_command(command_, {"TYPE", lock});
        send(i, request_kind::type, id, now);
        command_.clear();
        resp::append_command(command_, {"PTTL", lock});
        send(i, request_kind::time_left, id, now);
    }
    if (w.outstanding == 0)
        watches_.give_back(id);
}

// One more question of a watch has been answered, or never will be.
void redlock_core::on_watch_ended(core::slot_id id)
{
    watched* const w = watches_.find(id);
    if (w != nullptr && --w->outstanding == 0)
        watches_.give_back(id);
}

void redlock_core::on_watched(
    std::size_t node, core::slot_id id, request_kind kind, reply answer, time_point now)
{
    watched* const w = watches_.find(id);
    if (w == nullptr)
        return;
    const resp::value& v = answer.front();
    if (kind == request_kind::type) {
        const bool told = v.kind == resp::value_kind::simple_string;
        w->conflicts = static_cast<std::uint8_t>(
            w->conflicts + (told && v.text != "string" && v.text != "none" ? 1 : 0));
        return on_watch_ended(id);
    }
    ++w->answers;
    if (v.kind == resp::value_kind::integer && v.integer != -1) // -1: no end is set
        w->free_at[node] =
            core::later(now, std::chrono::milliseconds(std::max<std::int64_t>(v.integer, 0)));
    const std::size_t needed = majority(sessions_.size());
    if (w->answers < needed)
        return on_watch_ended(id);

    auto free_at = w->free_at;
    const auto nth = free_at.begin() + static_cast<std::ptrdiff_t>(needed - 1);
    std::nth_element(
        free_at.begin(), nth, free_at.begin() + static_cast<std::ptrdiff_t>(sessions_.size()));
    const bool conflict = w->conflicts >= blocking(sessions_.size());
    const std::uint64_t tag = w->tag;
    watches_.give_back(id);
    if (conflict || *nth != core::never)
        emit({.kind = event_kind::free_hint,
            .reason = conflict ? errc::key_conflict : errc{},
            .tag = tag,
            .valid_until = *nth});
}

} // namespace holdfast::redis
