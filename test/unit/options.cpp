#include <holdfast/options.hpp>

#include <holdfast/resource.hpp>

#include "core/params.hpp"
#include "redis/node/scripts.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
using holdfast::check;
using holdfast::lock_options;
using holdfast::locker_options;
using holdfast::resource;
namespace redis = holdfast::redis;

BOOST_AUTO_TEST_SUITE(values_options)

namespace {

// The message of the exception, or nothing.
std::string objection(const std::function<void()>& attempt)
{
    try {
        attempt();
    } catch (const std::invalid_argument& refusal) {
        return refusal.what();
    }
    return {};
}

template <class Options>
std::string objection_to(const Options& o)
{
    return objection([&] { check(o); });
}

} // namespace

// The defaults are valid, and so are the ends of every range.
BOOST_AUTO_TEST_CASE(good_options)
{

    for (const lock_options& o :
        {lock_options{}, lock_options{.ttl = 24h}, lock_options{.wait = 0ms},
            lock_options{.wait = holdfast::forever}, lock_options{.max_hold = 501ms},
            lock_options{.min_hold = 10s}, lock_options{.ttl = 20ms, .drift = 0ms, .guard = 13ms},
            lock_options{
                .ttl = 20ms, .drift = 0ms, .guard = 19ms, .renewal = holdfast::renewal::manual},
            lock_options{.handoff_limit = 0, .handoff_time = 0ms}, lock_options{.linger = 24h},
            lock_options{.polling_window = 0ms}, lock_options{.polling_window = 2s}})
        BOOST_TEST(objection_to(o) == "");
    BOOST_TEST(objection_to(locker_options{}) == "");
    BOOST_TEST(objection_to(locker_options{.retry_min = 1h, .retry_max = 1h}) == "");
}

// The message of every refusal names the setting and its value.
BOOST_AUTO_TEST_CASE(bad_options)
{
    const struct {
        lock_options options;
        const char* begins;
    } table[] = {
        {{.ttl = 19ms}, "holdfast: ttl is 19 ms; it must be from 20 ms to"},
        {{.ttl = 24h + 1ms}, "holdfast: ttl is 86400001 ms"},
        {{.ttl = -1ms}, "holdfast: ttl is -1 ms"},
        {{.ttl = holdfast::forever}, "holdfast: ttl is 9223372036854775807 ms"},
        {{.wait = -1ms}, "holdfast: wait is -1 ms"},
        {{.drift = -1ms}, "holdfast: drift is -1 ms"},
        {{.drift = 10'001ms}, "holdfast: drift is 10001 ms"},
        {{.guard = -1ms}, "holdfast: guard is -1 ms"},
        {{.guard = 10'001ms}, "holdfast: guard is 10001 ms"},
        {{.renewal = static_cast<holdfast::renewal>(7)}, "holdfast: renewal is neither"},
        {{.max_hold = 0ms}, "holdfast: max_hold is 0 ms"},
        {{.max_hold = -5ms}, "holdfast: max_hold is -5 ms"},
        {{.max_hold = 500ms}, "holdfast: max_hold is 500 ms; it must be longer than guard"},
        {{.min_hold = -1ms}, "holdfast: min_hold is -1 ms; it must be from 0 ms to 10000 ms"},
        {{.min_hold = 10'001ms}, "holdfast: min_hold is 10001 ms"},
        {{.max_hold = 5s, .min_hold = 6s}, "holdfast: min_hold is 6000 ms; it must be from 0 ms"},
        {{.handoff_time = -1ms}, "holdfast: handoff_time is -1 ms"},
        {{.handoff_time = 24h + 1ms}, "holdfast: handoff_time is 86400001 ms"},
        {{.linger = -1ms}, "holdfast: linger is -1 ms; it must be from 0 ms to 86400000 ms"},
        {{.linger = 24h + 1ms}, "holdfast: linger is 86400001 ms"},
        {{.min_hold = 1s, .linger = 2s}, "holdfast: linger is 2000 ms and min_hold is 1000 ms"},
        {{.polling_window = -1ms}, "holdfast: polling_window is -1 ms; it must be from 0 ms to"},
        {{.polling_window = 2001ms}, "holdfast: polling_window is 2001 ms"},
        {{.ttl = 50ms}, "holdfast: ttl is 50 ms; it must be longer than drift, guard and the time"},
        {{.guard = 7s}, "holdfast: ttl is 10000 ms; it must be longer than drift, guard and"},
        {{.drift = 5s, .guard = 5s, .renewal = holdfast::renewal::manual},
            "holdfast: ttl is 10000 ms; it must be longer than drift, guard together"},
    };
    for (const auto& row : table)
        BOOST_TEST(objection_to(row.options).starts_with(row.begins),
            "'" << objection_to(row.options) << "' begins with '" << row.begins << "'");

    lock_options none_may_wait;
    none_may_wait.max_waiters = 0;
    BOOST_TEST(objection_to(none_may_wait).find("max_waiters is 0") != std::string::npos);
    BOOST_TEST(objection_to(locker_options{.retry_min = 0ms}).find("retry_min is 0 ms") !=
               std::string::npos);
    BOOST_TEST(objection_to(locker_options{.retry_min = 1h + 1ms, .retry_max = 2h}) != "");
    BOOST_TEST(objection_to(locker_options{.retry_min = 9ms, .retry_max = 8ms})
                   .find("retry_max is 8 ms; it must be from 9 ms") != std::string::npos);
    BOOST_TEST(
        objection_to(locker_options{.max_waiting = 0}).find("max_waiting") != std::string::npos);
}

// Settings that are not set depend on the ttl, as documented.
BOOST_AUTO_TEST_CASE(defaults_follow_the_ttl)
{
    const auto usual = holdfast::core::terms_of({});
    BOOST_TEST(usual.drift == holdfast::core::duration(102ms));
    BOOST_TEST(usual.guard == holdfast::core::duration(500ms));
    BOOST_TEST(usual.handoff_time == holdfast::core::duration(2500ms));
    BOOST_TEST(usual.renews);
    const auto brief =
        holdfast::core::terms_of({.ttl = 200ms, .renewal = holdfast::renewal::manual});
    BOOST_TEST(brief.drift == holdfast::core::duration(4ms));
    BOOST_TEST(brief.guard == holdfast::core::duration(50ms));
    BOOST_TEST(!brief.renews);
}

// Windows take a small part of the time, even with a short ttl.
BOOST_AUTO_TEST_CASE(how_often_windows_are_open)
{
    const auto period_of = [](const lock_options& o) {
        const auto polling = holdfast::core::polling_of(holdfast::core::terms_of(o));
        BOOST_TEST(polling.window() == o.polling_window);
        return polling.period();
    };
    BOOST_TEST(period_of({}) == 5s);
    BOOST_TEST(period_of({.ttl = 20s}) == 10s);
    BOOST_TEST(period_of({.ttl = 300ms}) == 5s);
    BOOST_TEST(period_of({.ttl = 300ms, .polling_window = 20ms}) == 500ms);
    BOOST_TEST(period_of({.handoff_time = 24h, .polling_window = 2s}) == 48h);
}

// A resource name consists of any bytes, within the limits of length.
BOOST_AUTO_TEST_CASE(resources)
{
    BOOST_TEST(resource("a").name() == "a");
    BOOST_TEST(resource(std::string("\0\r\n", 3)).name().size() == 3u);
    BOOST_TEST(resource(std::string(512, 'x')).name().size() == 512u);
    BOOST_TEST((resource("a") == resource(std::string("a"))));
    BOOST_TEST((resource("a") != resource("b")));
    BOOST_TEST(objection([] { resource(""); }) == "holdfast: a resource name must not be empty");
    BOOST_TEST(
        objection([] { resource(std::string(513, 'x')); }).find("513 bytes") != std::string::npos);
}

// Such a name is refused: the lock of that resource would be the queue of another resource.
BOOST_AUTO_TEST_CASE(resources_that_are_named_like_queues)
{
    for (const auto suffix : {redis::queue_suffix, redis::window_suffix}) {
        const std::string reserved(suffix);
        for (const std::string& name : {"a" + reserved, reserved, "a" + reserved + reserved})
            BOOST_TEST(objection([&] { resource{name}; }) ==
                       "holdfast: a resource name must not end in \"" + reserved +
                           "\": such names are reserved for the keys of queues");
        BOOST_TEST(resource("a" + reserved + "s").name() == "a" + reserved + "s");
        BOOST_TEST(resource("a" + reserved + ":s").name() == "a" + reserved + ":s");
        for (const std::string& name : {"{a}" + reserved + ":", "{1}" + reserved + ":a}b"})
            BOOST_TEST(objection([&] { resource{name}; }) ==
                       "holdfast: a resource name must not contain \"}" + reserved +
                           ":\": such names are reserved for the keys of queues");
    }
}

BOOST_AUTO_TEST_SUITE_END()
