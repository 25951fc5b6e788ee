#include <holdfast/error.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using holdfast::condition;
using holdfast::errc;
using holdfast::error_code;

namespace {

constexpr int last_errc = static_cast<int>(errc::closed);

} // namespace

BOOST_AUTO_TEST_SUITE(error_test)

// Every enumerator has a message of its own.
BOOST_AUTO_TEST_CASE(every_code_says_something_else)
{
    std::set<std::string> seen{"unknown error"};
    for (int value = 1; value <= last_errc; ++value) {
        const error_code ec = static_cast<errc>(value);
        BOOST_TEST(std::string(ec.category().name()) == "holdfast");
        BOOST_TEST(seen.insert(ec.message()).second, ec.message());
    }
    BOOST_TEST(error_code(static_cast<errc>(last_errc + 1)).message() == "unknown error");
}

// Every code but `closed` is in exactly one group, as its documentation says.
BOOST_AUTO_TEST_CASE(groups)
{
    const std::set<errc> busy{errc::contended, errc::too_late};
    const std::set<errc> unavailable{
        errc::unreachable, errc::no_reply, errc::node_error, errc::overloaded};
    const std::set<errc> not_held{errc::lease_lost, errc::not_held};
    for (int value = 1; value <= last_errc; ++value) {
        const auto e = static_cast<errc>(value);
        const error_code ec = e;
        BOOST_TEST((ec == condition::busy) == (busy.count(e) == 1), ec.message());
        BOOST_TEST((ec == condition::unavailable) == (unavailable.count(e) == 1), ec.message());
        BOOST_TEST((ec == condition::not_held) == (not_held.count(e) == 1), ec.message());
        const int memberships = (ec == condition::busy) + (ec == condition::unavailable) +
                           (ec == condition::not_held) + (ec == condition::misconfigured);
        BOOST_TEST(memberships == (e == errc::closed ? 0 : 1), ec.message());
    }
}

// Success and the codes of other categories are in no group.
BOOST_AUTO_TEST_CASE(foreign_codes_are_in_no_group)
{
    const error_code foreign(1, boost::system::system_category());
    for (const auto c :
        {condition::busy, condition::unavailable, condition::not_held, condition::misconfigured}) {
        BOOST_TEST((error_code() != c));
        BOOST_TEST((foreign != c));
        BOOST_TEST(!make_error_condition(c).message().empty());
    }
}

BOOST_AUTO_TEST_SUITE_END()
