#include "redis/node/requests_under_way.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using test::at;

struct requests_fixture {
    requests_under_way requests;

    void push(std::uint64_t reference, std::size_t bytes)
    {
        requests.push({.reference = reference, .sent = at(0s)}, bytes);
    }

    // Writes so many bytes; returns the requests that were late.
    std::string write(std::size_t n, core::time_point when)
    {
        std::string late;
        requests.wrote(n);
        while (const request* const r = requests.stamp(when)) {
            BOOST_TEST((r->sent == when));
            late += std::to_string(r->reference) + " ";
        }
        return late;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_requests_under_way, requests_fixture)

BOOST_AUTO_TEST_CASE(answers_come_in_the_order_of_requests)
{
    push(1, 10);
    push(2, 10);
    push(3, 10);
    write(20, at(0s));
    BOOST_TEST(requests.size() == 3u);
    BOOST_TEST(requests.answered().reference == 1u);
    BOOST_TEST(requests.oldest().reference == 2u);
    BOOST_TEST(requests.answered().reference == 2u);
    BOOST_TEST(!requests.any_written()); // the third may not be answered yet
    write(10, at(0s));
    BOOST_TEST(requests.any_written());
    BOOST_TEST(requests.answered().reference == 3u);
    BOOST_TEST(requests.empty());
}

// A request is written when its last byte is.
BOOST_AUTO_TEST_CASE(requests_that_are_written_in_part)
{
    push(1, 5);
    push(2, 6);
    write(4, at(0s));
    BOOST_TEST(!requests.any_written());
    write(3, at(0s));
    BOOST_TEST(requests.any_written());
    BOOST_TEST(requests.answered().reference == 1u);
    write(3, at(0s));
    BOOST_TEST(!requests.any_written());
    write(1, at(0s));
    BOOST_TEST(requests.any_written());
}

// The time of a request becomes that of its last byte. Only a noticeable difference is reported.
BOOST_AUTO_TEST_CASE(requests_that_are_written_late)
{
    push(1, 5);
    push(2, 5);
    push(3, 5);
    push(4, 5);
    BOOST_TEST(write(5, at(1ms)) == "");
    BOOST_TEST((requests.oldest().sent == at(1ms)));
    BOOST_TEST(write(12, at(1ms + 1ns)) == "2 3 ");
    BOOST_TEST(write(3, at(5ms)) == "4 ");
    requests.answered();
    BOOST_TEST((requests.oldest().sent == at(1ms + 1ns)));
}

// The time of a request never moves back.
BOOST_AUTO_TEST_CASE(a_request_from_the_future)
{
    requests.push({.reference = 1, .sent = at(1s)}, 1);
    BOOST_TEST(write(1, at(0s)) == "");
    BOOST_TEST((requests.oldest().sent == at(1s)));
}

// Lost requests leave nothing behind for the next connection.
BOOST_AUTO_TEST_CASE(a_lost_connection)
{
    push(1, 5);
    push(2, 5);
    write(8, at(0s));
    BOOST_TEST(requests.lose().reference == 1u);
    BOOST_TEST(!requests.any_written());
    BOOST_TEST(requests.lose().reference == 2u);
    BOOST_TEST(requests.empty());
    push(3, 5);
    write(4, at(0s));
    BOOST_TEST(!requests.any_written());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::redis
