#include <holdfast/events.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;

BOOST_AUTO_TEST_SUITE(descriptions_of_events)

BOOST_AUTO_TEST_CASE(all_that_is_known)
{
    BOOST_TEST(
        describe({.kind = event::type::closing, .level = event_level::info}) == "info: closing");
    BOOST_TEST(describe({.kind = event::type::acquired,
                   .level = event_level::debug,
                   .resource = "stock:A",
                   .fence = 17}) == "debug: acquired resource=stock:A fence=17");
    const error_code refused = make_error_code(errc::tls_failed);
    BOOST_TEST(
        describe({.kind = event::type::node_down,
            .level = event_level::error,
            .node = "a:1",
            .error = refused,
            .text = "certificate has expired"}) ==
        "error: node_down node=a:1 error=" + refused.message() + " text=certificate has expired");
}

BOOST_AUTO_TEST_CASE(a_text_that_repeats_the_error_is_left_out)
{
    const error_code why = make_error_code(errc::closed);
    BOOST_TEST(describe({.kind = event::type::node_down,
                   .level = event_level::warning,
                   .error = why,
                   .text = why.message()}) == "warning: node_down error=" + why.message());
}

// A name must not make a second line, or bytes that a terminal obeys.
BOOST_AUTO_TEST_CASE(any_bytes_in_a_name)
{
    const std::string name("a\nerror: lost\x1b[2J\\\0\xff", 20);
    BOOST_TEST(
        describe({.kind = event::type::lost, .level = event_level::error, .resource = name}) ==
        "error: lost resource=a\\x0aerror: lost\\x1b[2J\\x5c\\x00\\xff");
}

BOOST_AUTO_TEST_CASE(names_are_different)
{
    std::string all;
    for (int i = 0; i <= static_cast<int>(event::type::closing); ++i) {
        const std::string name = std::string(name_of(static_cast<event::type>(i))) + " ";
        BOOST_TEST((name != "unknown " && all.find(name) == all.npos));
        all += name;
    }
    BOOST_TEST(name_of(event_level::warning) == "warning");
}

BOOST_AUTO_TEST_SUITE_END()
