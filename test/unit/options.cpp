#include "core/terms.hpp"

#include <holdfast/options.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using holdfast::lock_options;
using holdfast::locker_options;
using namespace std::chrono_literals;

namespace {

template <class Options>
std::string refusal(const std::function<void(Options&)>& change)
{
    Options o;
    change(o);
    try {
        check(o);
        return "accepted";
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(options_test)

// Each setting that is out of range, or does not fit the others, is named.
BOOST_AUTO_TEST_CASE(bad_lock_options)
{
    struct bad {
        const char* mentions;
        std::function<void(lock_options&)> change;
    };
    const std::vector<bad> table = {
        {"ttl",
            [](lock_options& o) {
                o.ttl = 0ms;
            }},
        {"ttl",
            [](lock_options& o) {
                o.ttl = -1s;
            }},
        {"ttl",
            [](lock_options& o) {
                o.ttl = 19ms;
            }},
        {"ttl",
            [](lock_options& o) {
                o.ttl = 25h;
            }},
        {"ttl",
            [](lock_options& o) {
                o.ttl = std::chrono::milliseconds::max();
            }},
        {"wait",
            [](lock_options& o) {
                o.wait = -1ms;
            }},
        {"max_hold",
            [](lock_options& o) {
                o.max_hold = 0ms;
            }},
        {"drift",
            [](lock_options& o) {
                o.drift = -1ms;
            }},
        {"drift",
            [](lock_options& o) {
                o.drift = 11s;
            }},
        {"guard",
            [](lock_options& o) {
                o.guard = -1ms;
            }},
        {"guard",
            [](lock_options& o) {
                o.guard = 11s;
            }},
        {"handoff_time",
            [](lock_options& o) {
                o.handoff_time = -1ms;
            }},
        {"renewal",
            [](lock_options& o) {
                o.renewal = static_cast<holdfast::renewal>(7);
            }},
        // In range one by one, but the lease would end before its first renewal.
        {"first renewal",
            [](lock_options& o) {
                o.guard = 7s;
            }},
        {"first renewal",
            [](lock_options& o) {
                o.ttl = 70ms;
            }},
        {"together",
            [](lock_options& o) {
                o.renewal = holdfast::renewal::manual;
                o.guard = 5s;
                o.drift = 5s;
            }},
    };
    for (const bad& b : table) {
        const std::string message = refusal<lock_options>(b.change);
        BOOST_TEST(message.starts_with("holdfast: "), message);
        BOOST_TEST(message.find(b.mentions) != std::string::npos, message);
    }
}

BOOST_AUTO_TEST_CASE(good_lock_options)
{
    const auto accepted = [](const std::function<void(lock_options&)>& change) {
        BOOST_TEST(refusal<lock_options>(change) == "accepted");
    };
    accepted([](lock_options&) {});
    accepted([](lock_options& o) { o.ttl = 24h; });
    accepted([](lock_options& o) { o.ttl = 100ms; });
    accepted([](lock_options& o) { o.wait = holdfast::forever; });
    accepted([](lock_options& o) { o.wait = 0ms; });
    accepted([](lock_options& o) { o.handoff_limit = 0; });
    accepted([](lock_options& o) {
        o.ttl = 20ms;
        o.guard = 5ms;
    });
}

BOOST_AUTO_TEST_CASE(bad_locker_options)
{
    using change = std::function<void(locker_options&)>;
    const auto mentions = [](const char* what, const change& c) {
        const std::string message = refusal<locker_options>(c);
        BOOST_TEST(message.find(what) != std::string::npos, message);
    };
    mentions("retry_min", [](locker_options& o) { o.retry_min = 0ms; });
    mentions("retry_max", [](locker_options& o) { o.retry_max = 7ms; });
    mentions("retry_max", [](locker_options& o) { o.retry_max = 2h; });
    mentions("max_waiting", [](locker_options& o) { o.max_waiting = 0; });
}

// The defaults are those that the documentation states.
BOOST_AUTO_TEST_CASE(defaults)
{
    const auto t = holdfast::core::terms_of({});
    BOOST_TEST((t.ttl == 10s));
    BOOST_TEST((t.drift == 102ms));
    BOOST_TEST((t.guard == 500ms));
    BOOST_TEST((t.handoff_time == 2500ms));
    BOOST_TEST(t.handoff_limit == 64u);
    BOOST_TEST(t.renews);

    lock_options quick;
    quick.ttl = 200ms;
    BOOST_TEST((holdfast::core::terms_of(quick).guard == 50ms));
    BOOST_TEST((holdfast::core::terms_of(quick).drift == 4ms));
}

BOOST_AUTO_TEST_SUITE_END()
