// Which client the nodes name as the owner of a lock, if they do not agree.
#include "unit/redis/inspection_fixture.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using words = told_node::words;

BOOST_FIXTURE_TEST_SUITE(told_clients, connected_inspection)

// The node that lies is the first to answer.
BOOST_AUTO_TEST_CASE(a_record_that_one_node_makes_up)
{
    std::size_t asked = 0;
    const auto ask_for_records = [&](const std::string& second, const std::string& third) {
        asked = 0;
        answer_all([&, second, third](const words& w) {
            if (w[0] == "view")
                return view(1, token(7), 1000);
            const std::size_t i = asked++;
            return list_of({blob(i == 0 ? record("innocent.example") : i == 1 ? second : third)});
        });
        return ask<resource_report>(core::inspection_task::inspect, "A").second.owner.value();
    };
    const lock_owner told = ask_for_records(record("a.example"), record("a.example"));
    BOOST_TEST(told.client.value().host == "a.example");
    BOOST_TEST(told.client_confirmed);
    BOOST_TEST(asked == 3u);
    const lock_owner doubtful = ask_for_records({}, {});
    BOOST_TEST(doubtful.client.value().host == "innocent.example");
    BOOST_TEST(!doubtful.client_confirmed);
    const lock_owner unknown = ask_for_records(record("a.example"), record("b.example"));
    BOOST_TEST(unknown.client.has_value());
    BOOST_TEST(!unknown.client_confirmed);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
