#include <holdfast/options.hpp>

#include "core/params.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds shortest_ttl = 20ms;
constexpr milliseconds longest_ttl = 24h;
constexpr milliseconds longest_polling_window = 2s;

// A period is at least this many windows, however short the ttl is.
constexpr std::uint32_t least_windows_in_period = 25;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: " + what);
}

std::string in_ms(milliseconds d)
{
    return std::to_string(d.count()) + " ms";
}

void check_range(const char* name, milliseconds value, milliseconds low, milliseconds high)
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + in_ms(value) + "; it must be from " + in_ms(low) +
               " to " + in_ms(high));
}

} // namespace

core::lease_params core::terms_of(const lock_options& o)
{
    core::lease_params t;
    t.ttl = o.ttl;
    t.drift = o.drift ? core::duration(*o.drift) : core::duration(o.ttl) / 100 + 2ms;
    t.guard = o.guard ? core::duration(*o.guard)
                      : std::max<core::duration>(50ms, core::duration(o.ttl) / 20);
    t.max_hold = o.max_hold;
    t.min_hold_ms = static_cast<std::uint32_t>(o.min_hold.count());
    t.handoff_time = o.handoff_time ? core::duration(*o.handoff_time) : core::duration(o.ttl) / 4;
    t.handoff_limit = o.handoff_limit;
    t.linger_ms = static_cast<std::uint32_t>(o.linger.count());
    t.polling_window_ms = static_cast<std::uint16_t>(o.polling_window.count());
    t.renews = o.renewal == renewal::automatic;
    t.fails_fast = o.fail_fast;
    t.max_waiters = o.max_waiters;
    return t;
}

core::polling_params core::polling_of(const lease_params& terms) noexcept
{
    const auto turns = std::chrono::ceil<milliseconds>(2 * terms.handoff_time).count();
    const std::uint32_t window = terms.polling_window_ms;
    return {.window_ms = window,
        .period_ms = std::max(static_cast<std::uint32_t>(turns), least_windows_in_period * window)};
}

void check(const lock_options& o)
{
    check_range("ttl", o.ttl, shortest_ttl, longest_ttl);
    if (o.wait < 0ms)
        reject("wait is " + in_ms(o.wait) + "; it must not be negative");
    if (o.max_hold <= 0ms)
        reject("max_hold is " + in_ms(o.max_hold) + "; it must be positive");
    check_range("min_hold", o.min_hold, 0ms, std::min(o.ttl, o.max_hold));
    if (o.drift)
        check_range("drift", *o.drift, 0ms, o.ttl);
    if (o.guard)
        check_range("guard", *o.guard, 0ms, o.ttl);
    if (o.handoff_time)
        check_range("handoff_time", *o.handoff_time, 0ms, longest_ttl);
    check_range("linger", o.linger, 0ms, longest_ttl);
    if (o.linger != 0ms && o.min_hold != 0ms)
        reject("linger is " + in_ms(o.linger) + " and min_hold is " + in_ms(o.min_hold) +
               "; one of them must be 0, because a lease with min_hold has only one holder");
    check_range("polling_window", o.polling_window, 0ms, longest_polling_window);
    if (o.max_waiters == 0)
        reject("max_waiters is 0; it must be at least 1");
    if (o.renewal != renewal::automatic && o.renewal != renewal::manual)
        reject("renewal is neither automatic nor manual");

    const core::lease_params t = core::terms_of(o);
    const core::duration renewal_at = t.renews ? t.ttl / 3 : core::duration(0);
    const core::duration needed = t.drift + t.guard + renewal_at;
    if (o.max_hold <= std::chrono::ceil<milliseconds>(t.guard))
        reject("max_hold is " + in_ms(o.max_hold) + "; it must be longer than guard, which is " +
               in_ms(std::chrono::ceil<milliseconds>(t.guard)));
    if (needed >= t.ttl) {
        const auto ms = std::chrono::ceil<milliseconds>(needed);
        reject("ttl is " + in_ms(o.ttl) + "; it must be longer than drift, guard" +
               (t.renews ? " and the time to the first renewal (ttl / 3)" : "") +
               " together, which are " + in_ms(ms));
    }
}

void check(const locker_options& o)
{
    check_range("retry_min", o.retry_min, 1ms, 1h);
    check_range("retry_max", o.retry_max, o.retry_min, 1h);
    if (o.max_waiting == 0)
        reject("max_waiting is 0; it must be at least 1");
    if (o.event_level < event_level::debug || o.event_level > event_level::error)
        reject("event_level is neither debug, info, warning nor error");
}

} // namespace holdfast
