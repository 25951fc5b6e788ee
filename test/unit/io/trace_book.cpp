// Which span the steps of a locker belong to.
#include "io/trace_book.hpp"

#include "support/recording_tracer.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

using namespace holdfast;
using namespace holdfast::test;
using step = core::trace_mark::step;

namespace {

struct book_fixture {
    asio::io_context context;
    std::shared_ptr<recording_tracer> tracer = std::make_shared<recording_tracer>();
    std::shared_ptr<io::outbox> calls = std::make_shared<io::outbox>(context.get_executor());
    io::trace_book book{calls};

    void begin(std::uint64_t wait) { book.begin(wait, tracer->begin_acquire("A")); }
    void mark(const core::trace_mark& m)
    {
        book.follow(m, {}, m.kind != step::vote ? "" : m.node == 0 ? "a:1" : "b:2");
    }
    // The spans that are over, in words.
    std::string over()
    {
        context.restart();
        context.run();
        std::string all;
        for (const auto& each : tracer->over()) {
            all += each.name + "(";
            for (const std::string& e : each.events)
                all += e + ", ";
            all += each.outcome ? each.outcome.message() : std::string("ok");
            all += ") ";
        }
        return all;
    }
    static std::string text(errc e) { return make_error_code(e).message(); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_trace_book, book_fixture)

BOOST_AUTO_TEST_CASE(an_acquire_and_its_hold)
{
    begin(1);
    mark({.kind = step::attempt, .wait = 1, .claim = 7});
    mark({.kind = step::vote, .node = 1, .claim = 7});
    mark({.kind = step::vote, .reason = errc::contended, .node = 0, .claim = 7});
    mark({.kind = step::decided, .claim = 7});
    mark({.kind = step::vote, .node = 0, .claim = 7}); // late
    mark({.kind = step::granted, .wait = 1, .claim = 7, .fence = 5});
    const std::string acquire =
        "acquire(attempt, vote b:2, vote a:1: " + text(errc::contended) + ", decided, ok) ";
    BOOST_TEST(over() == acquire);
    BOOST_TEST(tracer->open() == 1u);
    mark({.kind = step::over, .reason = errc::lease_lost, .claim = 7});
    BOOST_TEST(over() == acquire + "hold(" + text(errc::lease_lost) + ") ");
    BOOST_TEST((tracer->over()[1].fence == 5u));
    BOOST_TEST(tracer->open() == 0u);
}

// The votes belong to the wait that has taken the attempt over.
BOOST_AUTO_TEST_CASE(an_attempt_that_is_taken_over)
{
    begin(1);
    begin(2);
    mark({.kind = step::attempt, .wait = 1, .claim = 7});
    book.fail(1, asio::error::operation_aborted, {});
    mark({.kind = step::attempt, .wait = 2, .claim = 7});
    mark({.kind = step::queued, .claim = 7});
    mark({.kind = step::failed, .reason = errc::contended, .wait = 2});
    mark({.kind = step::given_up, .claim = 7});
    BOOST_TEST(over() == "acquire(attempt, " +
                             error_code(asio::error::operation_aborted).message() +
                             ") acquire(attempt, queued, " + text(errc::contended) + ") ");
    BOOST_TEST(tracer->open() == 0u);
}

// The tracer wanted no span for these.
BOOST_AUTO_TEST_CASE(acquires_without_a_span)
{
    mark({.kind = step::attempt, .wait = 1, .claim = 7});
    mark({.kind = step::decided, .claim = 7});
    mark({.kind = step::granted, .wait = 1, .claim = 7});
    mark({.kind = step::over, .claim = 7});
    book.fail(2, {}, {});
    BOOST_TEST(over() == "");
}

// A wait may last for ever, with a new attempt again and again.
BOOST_AUTO_TEST_CASE(a_long_wait_keeps_its_first_and_last_steps)
{
    constexpr std::size_t kept = io::trace_book::most;
    const auto events_of = [this](std::uint64_t wait, std::size_t attempts) {
        begin(wait);
        for (std::size_t i = 1; i <= attempts; ++i)
            book.follow({.kind = step::attempt, .wait = wait, .claim = 7},
                {.steady = trace_time().steady + std::chrono::seconds(i)}, {});
        book.fail(wait, {}, {});
        over();
        return tracer->over().back();
    };
    BOOST_TEST(events_of(1, 2 * kept).events == std::vector<std::string>(2 * kept, "attempt"),
        boost::test_tools::per_element());
    for (const std::size_t more : {std::size_t(1), kept, 10 * kept + 3}) {
        const auto span = events_of(1 + more, 2 * kept + more);
        BOOST_REQUIRE(span.events.size() == 2 * kept + 1);
        BOOST_TEST(span.events[kept] == "omitted");
        for (std::size_t i = 0; i < span.times.size(); ++i) {
            const std::size_t expected = i < kept ? i + 1 : i + more;
            BOOST_TEST(
                (span.times[i].steady == trace_time().steady + std::chrono::seconds(expected)));
        }
    }
}

// The user's spans are neither destroyed by the caller nor lost, however many events wait.
BOOST_AUTO_TEST_CASE(ends_behind_a_full_backlog)
{
    for (std::size_t i = 0; i < io::outbox::most + io::outbox::reserve; ++i)
        calls->add([] {}, io::outbox::kind::rare);
    begin(1);
    begin(2);
    book.fail(1, {}, {});
    mark({.kind = step::granted, .wait = 2, .claim = 7});
    mark({.kind = step::over, .claim = 7});
    BOOST_TEST(tracer->open() == 2u);
    BOOST_TEST(calls->dropped() == 0u);
    BOOST_TEST(over() == "acquire(ok) acquire(ok) hold(ok) ");
    BOOST_TEST(tracer->open() == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_left_over_is_given_back)
{
    begin(1);
    begin(2);
    mark({.kind = step::granted, .wait = 2, .claim = 8});
    over();
    BOOST_TEST(tracer->open() == 2u);
    book.clear().clear();
    BOOST_TEST(tracer->open() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
