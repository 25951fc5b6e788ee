#include "redis/queue/polling_windows.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct windows_fixture {
    redis::polling_windows windows;
    core::polling_params terms{.window_ms = 200, .period_ms = 5000};

    bool is_due(core::duration when, bool after_turns = false) const
    {
        return windows.is_due(1, terms, after_turns, at(when));
    }
    // Clients wait for the resource all the time.
    void contend(core::duration from, core::duration to)
    {
        for (; from < to; from += 100ms)
            windows.note_contention(1, at(from));
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_polling_windows, windows_fixture)

BOOST_AUTO_TEST_CASE(a_window_is_due_after_the_turns_of_one_process)
{
    BOOST_TEST(!is_due(0s));
    BOOST_TEST(is_due(0s, true));
    windows.opened(1, terms, at(0s));
    BOOST_TEST(!is_due(4999ms, true));
    BOOST_TEST(is_due(5s, true));
    BOOST_TEST(!is_due(5s));
}

BOOST_AUTO_TEST_CASE(a_window_is_due_after_a_period_of_contention)
{
    contend(0s, 6s);
    BOOST_TEST(!is_due(4999ms));
    BOOST_TEST(is_due(5s));
    BOOST_TEST(!windows.is_due(2, terms, false, at(5s)));
    windows.opened(1, terms, at(5s));
    contend(6s, 10s);
    BOOST_TEST(!is_due(9999ms));
    BOOST_TEST(is_due(10s));
}

// The memory is limited: old contention is forgotten first.
BOOST_AUTO_TEST_CASE(a_window_is_due_although_many_other_resources_are_contended)
{
    std::uint64_t other = 1;
    for (core::duration passed = 0s; passed <= 5s; passed += 100ms) {
        windows.note_contention(1, at(passed));
        for (int i = 0; i < 150; ++i)
            windows.note_contention(++other, at(passed));
    }
    BOOST_TEST(is_due(5s));
}

// Each client may hold the resource for longer than that.
BOOST_AUTO_TEST_CASE(contention_lasts_until_it_is_known_to_end)
{
    windows.note_contention(1, at(0s));
    BOOST_TEST(is_due(1h));
}

// A resource that is free for an instant is of no use to polling clients. A resource that is free
// for a second needs no windows.
BOOST_AUTO_TEST_CASE(a_resource_that_is_free)
{
    contend(0s, 3s);
    windows.note_free(1);
    contend(3s, 5s);
    windows.note_free(1);
    BOOST_TEST(is_due(5s));
    BOOST_TEST(!is_due(6s));
    contend(6s, 11s);
    BOOST_TEST(!is_due(10'999ms));
    BOOST_TEST(is_due(11s));
}

// Another process has opened the last window. The next may be due soon.
BOOST_AUTO_TEST_CASE(a_window_that_was_not_due)
{
    contend(0s, 6s);
    windows.refused(1, terms, at(5s));
    BOOST_TEST(!is_due(5624ms));
    BOOST_TEST(is_due(5625ms));
}

BOOST_AUTO_TEST_CASE(no_windows_are_wanted)
{
    terms.window_ms = 0;
    contend(0s, 6s);
    BOOST_TEST(!is_due(6s, true));
}

BOOST_AUTO_TEST_CASE(memory_is_bounded)
{
    windows.note_contention(1, at(0s));
    for (std::uint64_t resource = 2; resource <= 4096; ++resource)
        windows.note_contention(resource, at(0s));
    BOOST_TEST(is_due(5s));
    windows.note_contention(1, at(0s));
    BOOST_TEST(is_due(5s));
    windows.note_contention(5000, at(0s));
    BOOST_TEST(!is_due(5s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
