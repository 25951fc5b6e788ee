// What the observers of a locker are told of its journal.
#include "io/observers.hpp"

#include "support/recording_tracer.hpp"
#include "support/scripted_backend.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asio = boost::asio;
using namespace holdfast;

BOOST_AUTO_TEST_SUITE(io_observers)

using kind = event::type;

// All waits end at once, then the locker tells what a person must know.
BOOST_AUTO_TEST_CASE(what_matters_is_not_lost_behind_many_waits)
{
    constexpr std::size_t waits = 20'000;
    asio::io_context context;
    std::vector<kind> told;
    locker_options options;
    options.on_event = [&told](const event& e) {
        told.push_back(e.kind);
    };
    io::observers all(context.get_executor(), options);
    core::journal notes(options);
    const core::time_point now = io::now();
    for (std::size_t i = 0; i < waits; ++i)
        notes.wait_failed(i, "A", errc::closed, false, now);
    notes.lost(1, "B", now);
    notes.note({.kind = kind::node_up, .level = event_level::info}, now);
    notes.note({.kind = kind::overload_ended, .level = event_level::info}, now);
    notes.note({.kind = kind::closing, .level = event_level::info}, now);
    all.tell(notes, test::scripted_backend().nodes());
    context.run();
    BOOST_REQUIRE(told.size() == io::outbox::most + 4);
    const std::vector<kind> last(told.end() - 4, told.end());
    BOOST_TEST((
        last == std::vector<kind>{kind::lost, kind::node_up, kind::overload_ended, kind::closing}));
    locker_stats stats;
    all.add_to(stats);
    BOOST_TEST(stats.events_dropped == waits - io::outbox::most);
}

// Nodes whose names change, as behind sentinels.
class renamed_nodes final : public core::store_nodes {
public:
    std::string host;

    std::string name(std::size_t node) const override { return host + ":" + std::to_string(node); }
};

BOOST_AUTO_TEST_CASE(a_vote_has_the_name_that_its_node_has_now)
{
    using step = core::trace_mark::step;
    asio::io_context context;
    const auto tracer = std::make_shared<test::recording_tracer>();
    locker_options options;
    options.tracer = tracer;
    io::observers all(context.get_executor(), options);
    core::journal notes(options);
    renamed_nodes nodes;
    all.begin(1, tracer->begin_acquire("A"));
    notes.mark({.kind = step::attempt, .wait = 1, .claim = 7});
    for (const char* const host : {"old", "new"}) {
        nodes.host = host;
        notes.mark({.kind = step::vote, .node = 1, .claim = 7});
        all.tell(notes, nodes);
    }
    notes.mark({.kind = step::granted, .wait = 1, .claim = 7});
    all.tell(notes, nodes);
    context.run();
    BOOST_REQUIRE(tracer->over().size() == 1u);
    const std::vector<std::string> expected = {"attempt", "vote old:1", "vote new:1"};
    BOOST_TEST(tracer->over()[0].events == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
