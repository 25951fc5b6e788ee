// What observers are told, and that nothing is built where there are none.
#include "core/journal.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;
using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

class silent_tracer final : public tracer {
public:
    std::shared_ptr<trace_span> begin_acquire(std::string_view) noexcept override { return {}; }
};

locker_options from(event_level lowest)
{
    return {.on_event = [](const event&) {}, .event_level = lowest};
}

void happen(journal& j)
{
    j.acquired(1, 7, "A", 5, at(1s));
    j.released(7, "A", at(2s));
    j.wait_failed(2, "A", errc::contended, false, at(3s));
    j.wait_failed(3, "A", errc::contended, true, at(4s));
    j.wait_failed(4, "A", errc::unreachable, false, at(5s));
    j.wait_failed(5, "A", errc::permission_denied, false, at(6s));
    j.overload(true, at(7s));
    j.overload(false, at(8s));
    j.lost(8, "B", at(9s));
    j.asked(9, 10, at(10s));
}

std::string events_of(journal& j)
{
    std::string all;
    while (const auto e = j.next_event())
        all += std::to_string((e->at - start) / 1s) + " " + std::string(name_of(e->what.level)) +
               " " + std::string(name_of(e->what.kind)) + "; ";
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(core_journal)

BOOST_AUTO_TEST_CASE(without_observers_it_stays_empty)
{
    journal j;
    happen(j);
    BOOST_TEST(j.empty());
    BOOST_TEST(!j.wants(event_level::error));
}

BOOST_AUTO_TEST_CASE(events_from_a_level_on)
{
    const std::string errors = "6 error wait_failed; 9 error lost; ";
    const std::string warnings =
        "5 warning wait_failed; 6 error wait_failed; 7 warning overload_began; 9 error lost; ";
    const std::string infos = "3 info wait_failed; 5 warning wait_failed; 6 error wait_failed; "
                              "7 warning overload_began; 8 info overload_ended; 9 error lost; ";
    const std::pair<event_level, std::string> expected[] = {{event_level::error, errors},
        {event_level::warning, warnings}, {event_level::info, infos},
        {event_level::debug, "1 debug acquired; 2 debug released; " + infos}};
    for (const auto& [level, words] : expected) {
        journal j(from(level));
        happen(j);
        BOOST_TEST(events_of(j) == words);
        BOOST_TEST(!j.next_mark());
        BOOST_TEST(j.empty());
    }
}

BOOST_AUTO_TEST_CASE(an_event_has_what_is_known)
{
    journal j(from(event_level::debug));
    j.acquired(1, 7, "A", 5, at(1s));
    j.wait_failed(2, "B", errc::unreachable, false, at(3s));
    const auto first = j.next_event(), second = j.next_event();
    BOOST_REQUIRE((first && second));
    BOOST_TEST(first->what.resource == "A");
    BOOST_TEST((first->what.fence == 5u));
    BOOST_TEST(second->what.resource == "B");
    BOOST_TEST((second->what.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(marks_only_for_a_tracer)
{
    journal j({.tracer = std::make_shared<silent_tracer>()});
    happen(j);
    BOOST_TEST(!j.next_event());
    using step = trace_mark::step;
    std::string steps;
    while (const auto m = j.next_mark()) {
        steps += m->kind == step::granted   ? "granted "
                 : m->kind == step::over    ? "over "
                 : m->kind == step::failed  ? "failed "
                 : m->kind == step::attempt ? "attempt "
                                            : "? ";
    }
    BOOST_TEST(steps == "granted over failed failed failed failed over attempt ");
}

BOOST_AUTO_TEST_SUITE_END()
