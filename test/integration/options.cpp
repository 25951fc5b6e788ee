// Invalid settings are refused by a clear exception, before anything is sent. The unit tests have
// the complete tables.
#include "support/run.hpp"

#include <boost/test/data/test_case.hpp>

#include <ostream>
#include <stdexcept>
#include <string_view>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(options)

struct mistake {
    const char* name;
    void (*make)(locker&);
    const char* named; // what the message must mention
    friend std::ostream& operator<<(std::ostream& out, const mistake& m) { return out << m.name; }
};

void lock_with(locker& l, void (*change)(lock_options&))
{
    lock_options options;
    change(options);
    holdfast::lock(l, "resource", options);
}

const std::vector<mistake> mistakes{
    {"negative wait", [](locker& l) { lock_with(l, [](lock_options& o) { o.wait = -1ms; }); },
        "wait"},
    {"guard as long as the ttl",
        [](locker& l) { lock_with(l, [](lock_options& o) { o.guard = o.ttl; }); }, "guard"},
    {"drift beyond the ttl",
        [](locker& l) { lock_with(l, [](lock_options& o) { o.drift = 2 * o.ttl; }); }, "drift"},
    {"one node twice",
        [](locker&) {
            redlock({"redis://a:1", "redis://a:1"});
        },
        "twice"},
    {"another scheme", [](locker&) { redlock({"http://a:1"}); }, "scheme"},
    {"port", [](locker&) { redlock({"redis://a:70000"}); }, "port"},
    {"node timeout", [](locker&) { redlock({"redis://a"}, {.node_timeout = 0ms}); },
        "node_timeout"},
    {"quarantine", [](locker&) { redlock({"redis://a"}, {.fence = {.quarantine = 1ms}}); },
        "fence.quarantine"},
    {"ttl beyond the quarantine",
        [](locker& l) {
            redlock_options options{.fencing = fencing::on};
            locker fenced(l.get_executor(), redlock({"redis://127.0.0.1:1"}, options));
            lock_options longer;
            longer.ttl = options.fence.quarantine;
            holdfast::lock(fenced, "resource", longer);
            longer.ttl += 1ms;
            holdfast::lock(fenced, "resource", longer);
        },
        "quarantine"},
    {"retries",
        [](locker& l) {
            const holdfast::locker refused(
                l.get_executor(), memory(), {.retry_min = 10ms, .retry_max = 5ms});
        },
        "retry_max"},
};

BOOST_DATA_TEST_CASE(the_message_names_the_mistake, mistakes, each)
{
    scene s(memory());
    BOOST_CHECK_EXCEPTION(each.make(s.locker()), std::invalid_argument, [&](auto& e) {
        const bool named = std::string_view(e.what()).find(each.named) != std::string_view::npos;
        BOOST_TEST(named, e.what());
        return named;
    });
    s.finish();
}

BOOST_AUTO_TEST_CASE(the_message_does_not_contain_the_password)
{
    BOOST_CHECK_EXCEPTION(
        endpoint("redis://user:pass-word@host:70000"), std::invalid_argument, [](auto& e) {
            return std::string_view(e.what()).find("pass-word") == std::string_view::npos;
        });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
