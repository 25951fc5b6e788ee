#include <holdfast/error.hpp>

#include "support/printing.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using holdfast::condition;
using holdfast::errc;
using holdfast::error_code;

namespace {

// They belong to no condition: what to do depends on the caller.
const std::set<errc> ungrouped{errc::closed, errc::batch_failed, errc::wrong_reply_count};

const errc all_errors[] = {errc::contended, errc::unreachable, errc::too_late, errc::lease_lost,
    errc::not_held, errc::authentication_failed, errc::permission_denied, errc::tls_failed,
    errc::misconfigured_node, errc::protocol_error, errc::fencing_unavailable, errc::key_conflict,
    errc::no_reply, errc::node_error, errc::overloaded, errc::no_random_bits, errc::closed,
    errc::batch_failed, errc::wrong_reply_count};

const condition all_conditions[] = {
    condition::busy, condition::unavailable, condition::not_held, condition::misconfigured};

} // namespace

BOOST_AUTO_TEST_SUITE(values_error)

// Every error has its own message. No error is zero, which means success.
BOOST_AUTO_TEST_CASE(messages)
{
    std::set<std::string> seen{"unknown error"};
    int value = 0;
    for (const errc e : all_errors) {
        const error_code ec = e;
        BOOST_TEST(ec.value() == ++value);
        BOOST_TEST(ec.category().name() == std::string("holdfast"));
        BOOST_TEST(seen.insert(ec.message()).second, ec.message());
        BOOST_TEST(ec.failed());
    }
    BOOST_TEST(error_code(value + 1, holdfast::error_category()).message() == "unknown error");
}

// A plugin may have a copy of the library of its own. Errors of the two copies are equal.
BOOST_AUTO_TEST_CASE(categories_of_copies)
{
    class other_copy final : public boost::system::error_category {
    public:
        explicit other_copy(boost::ulong_long_type id) noexcept : error_category(id) {}
        const char* name() const noexcept override { return "holdfast"; }
        std::string message(int) const override { return {}; }
    };
    const other_copy errors(0x8c1f'52d7'0b3e'96a4), conditions(0x3a75'e1c8'f496'0d2b);
    BOOST_TEST((errors == holdfast::error_category()));
    BOOST_TEST((conditions == holdfast::condition_category()));
    BOOST_TEST((errors != holdfast::condition_category()));
    BOOST_TEST((error_code(int(errc::contended), errors) == errc::contended));
    BOOST_TEST((error_code(int(errc::contended), errors) == condition::busy));
}

// A message names all its causes: not only the first that comes to mind.
BOOST_AUTO_TEST_CASE(the_message_of_a_misconfigured_node_names_eviction)
{
    const std::string message = error_code(errc::misconfigured_node).message();
    for (const char* const cause : {"independent primary", "evicts keys", "other settings"})
        BOOST_TEST(message.find(cause) != std::string::npos, message);
}

// Every error belongs to one condition, except those that belong to none. Success and errors
// of other categories belong to none.
BOOST_AUTO_TEST_CASE(conditions)
{
    for (const errc e : all_errors) {
        int groups = 0;
        for (const condition c : all_conditions)
            groups += error_code(e) == c ? 1 : 0;
        const bool alone = ungrouped.count(e) == 1;
        BOOST_TEST(groups == (alone ? 0 : 1), error_code(e).message());
    }
    for (const condition c : all_conditions) {
        BOOST_TEST((error_code() != c));
        BOOST_TEST((error_code(1, boost::system::system_category()) != c));
        BOOST_TEST((error_code(holdfast::asio::error::operation_aborted) != c));
        BOOST_TEST(!make_error_condition(c).message().empty());
    }
}

// The conditions have the members that their documentation names.
BOOST_AUTO_TEST_CASE(members_of_conditions)
{
    const std::set<errc> busy{errc::contended, errc::too_late};
    const std::set<errc> unavailable{errc::unreachable, errc::no_reply, errc::node_error,
        errc::overloaded, errc::no_random_bits};
    const std::set<errc> not_held{errc::lease_lost, errc::not_held};
    for (const errc e : all_errors) {
        const error_code ec = e;
        BOOST_TEST((ec == condition::busy) == busy.contains(e), ec.message());
        BOOST_TEST((ec == condition::unavailable) == unavailable.contains(e), ec.message());
        BOOST_TEST((ec == condition::not_held) == not_held.contains(e), ec.message());
    }
}

BOOST_AUTO_TEST_SUITE_END()
