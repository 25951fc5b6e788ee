#include "redis/node/answer_watch.hpp"

#include "redis/node/scripts.hpp"
#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using test::at;
using finding = answer_watch::finding;

struct watch_fixture {
    answer_watch watch{10s};

    watch_fixture() { watch.start(at(0s)); }

    void answer(core::duration when, bool more_wait, request_kind kind = request_kind::acquire)
    {
        watch.on_answered(kind, more_wait, at(when));
    }
    bool in_order(request_kind kind, resp::value_kind type, std::string_view text) const
    {
        const resp::value answer{type, 0, 0, text};
        return watch.in_order(kind, {&answer, 1});
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_answer_watch, watch_fixture)

// Nothing needs a look while nothing is asked.
BOOST_AUTO_TEST_CASE(an_idle_node)
{
    BOOST_TEST((watch.look_at() == core::never));
    watch.on_sent(at(1h));
    BOOST_TEST((watch.look_at() == at(1h + 10s)));
    answer(1h + 1s, false);
    BOOST_TEST((watch.look_at() == core::never));
    watch.on_sent(at(2h));
    watch.stop();
    BOOST_TEST((watch.look_at() == core::never));
}

// Silence counts from the last answer, or from the oldest request if that is later.
BOOST_AUTO_TEST_CASE(a_silent_node)
{
    watch.on_sent(at(1s));
    watch.on_sent(at(2s));
    BOOST_TEST((watch.silence(at(1s), at(4s)) == 3s));
    answer(5s, true);
    BOOST_TEST((watch.silence(at(2s), at(7s)) == 2s));
    BOOST_TEST((watch.look(at(2s), at(11s)) == finding::fine));
    BOOST_TEST((watch.look_at() == at(15s)));
    BOOST_TEST((watch.look(at(2s), at(15s)) == finding::silent));
}

// A node that always leaves a request waiting is asked the question, and again after its answer.
BOOST_AUTO_TEST_CASE(a_node_that_is_always_behind)
{
    watch.on_sent(at(0s));
    for (int i = 1; i <= 9; ++i)
        answer(i * 1s, true);
    BOOST_TEST((watch.look(at(5s), at(10s)) == finding::fine));
    BOOST_TEST((watch.look_at() == at(11s))); // ten seconds after the first of these answers
    answer(10s, true);
    BOOST_TEST((watch.look(at(6s), at(11s)) == finding::in_doubt));
    BOOST_TEST((watch.look(at(6s), at(11s)) == finding::fine)); // asked once
    answer(12s, true, request_kind::order);
    BOOST_TEST((watch.look(at(12s), at(20s)) == finding::fine));
    BOOST_TEST((watch.look_at() == at(22s)));
    answer(21s, true);
    BOOST_TEST((watch.look(at(20s), at(22s)) == finding::in_doubt));
}

// When nothing is left to do, the node has caught up.
BOOST_AUTO_TEST_CASE(a_node_that_catches_up)
{
    watch.on_sent(at(0s));
    answer(1s, true);
    answer(2s, false);
    watch.on_sent(at(3s));
    answer(9s, true);
    BOOST_TEST((watch.look(at(8s), at(13s)) == finding::fine));
    BOOST_TEST((watch.look_at() == at(19s)));
}

// The question has one right answer, or an error, and nothing else has that answer. Answers are
// checked only while the question is under way.
BOOST_AUTO_TEST_CASE(the_order_of_answers)
{
    using type = resp::value_kind;
    BOOST_TEST(answer_watch::question().find(release_script.text) != std::string::npos);
    const std::string_view right = release_script.digest;
    BOOST_TEST(in_order(request_kind::acquire, type::blob_string, right));
    watch.on_sent(at(0s));
    answer(1s, true);
    answer(9s, true);
    BOOST_REQUIRE((watch.look(at(8s), at(11s)) == finding::in_doubt));
    BOOST_TEST(!in_order(request_kind::acquire, type::blob_string, right));
    BOOST_TEST(in_order(request_kind::acquire, type::simple_string, "OK"));
    BOOST_TEST(in_order(request_kind::acquire, type::error, "ERR"));
    BOOST_TEST(in_order(request_kind::order, type::blob_string, right));
    BOOST_TEST(in_order(request_kind::order, type::error, "NOPERM"));
    BOOST_TEST(!in_order(request_kind::order, type::simple_string, "OK"));
    answer(12s, true, request_kind::order);
    BOOST_TEST(in_order(request_kind::acquire, type::blob_string, right));
}

// A new connection starts from scratch.
BOOST_AUTO_TEST_CASE(a_new_connection)
{
    watch.on_sent(at(0s));
    answer(1s, true);
    answer(9s, true);
    BOOST_REQUIRE((watch.look(at(8s), at(11s)) == finding::in_doubt));
    watch.stop();
    watch.start(at(12s));
    BOOST_TEST((watch.look_at() == core::never));
    BOOST_TEST(in_order(request_kind::order, resp::value_kind::simple_string, "OK"));
    BOOST_TEST((watch.silence(at(11s), at(13s)) == 1s));
    watch.on_sent(at(13s));
    BOOST_TEST((watch.look(at(13s), at(14s)) == finding::fine));
    BOOST_TEST((watch.look_at() == at(23s)));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::redis
