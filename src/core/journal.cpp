#include "core/journal.hpp"

#include <string>
#include <utility>

namespace holdfast::core {

namespace {

event_level level_of(errc reason)
{
    if (reason == errc::contended || reason == errc::closed)
        return event_level::info;
    return make_error_code(reason) == condition::misconfigured ? event_level::error
                                                               : event_level::warning;
}

template <class T>
std::optional<T> take_first(std::deque<T>& items)
{
    if (items.empty())
        return std::nullopt;
    std::optional<T> first(std::move(items.front()));
    items.pop_front();
    return first;
}

} // namespace

std::optional<noted_event> journal::next_event()
{
    return take_first(events_);
}

std::optional<trace_mark> journal::next_mark()
{
    return take_first(marks_);
}

void journal::overload(bool begins, time_point now)
{
    if (begins)
        note({.kind = event::type::overload_began,
                 .level = event_level::warning,
                 .error = make_error_code(errc::overloaded)},
            now);
    else
        note({.kind = event::type::overload_ended, .level = event_level::info}, now);
}

void journal::note_lease(event::type kind, event_level level, std::string_view resource,
    std::optional<std::uint64_t> fence, time_point now)
{
    note({.kind = kind, .level = level, .resource = std::string(resource), .fence = fence}, now);
}

void journal::note_failure(std::string_view resource, errc reason, time_point now)
{
    const event_level level = level_of(reason);
    if (wants(level))
        note({.kind = event::type::wait_failed,
                 .level = level,
                 .resource = std::string(resource),
                 .error = make_error_code(reason)},
            now);
}

} // namespace holdfast::core
