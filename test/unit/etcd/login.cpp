#include "etcd/login.hpp"
#include "etcd/wire/protobuf.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::errc;
using holdfast::etcd_store::login;
namespace wire = holdfast::etcd_store::wire;

namespace {

struct begun_login {
    begun_login()
    {
        settings.user = "user";
        settings.password = "secret";
        l.begin(calls, settings);
    }
    static wire::arrival message(const std::string& text) { return {1, std::nullopt, text}; }
    static wire::arrival end(int status, const std::string& text) { return {1, status, text}; }
    static std::string token(const std::string& text)
    {
        wire::proto_writer w;
        w.text(2, text);
        return w.encoded();
    }

    holdfast::etcd_store::cluster_settings settings;
    wire::grpc_calls calls{"m", false};
    login l;
};

BOOST_FIXTURE_TEST_SUITE(etcd_login, begun_login)

BOOST_AUTO_TEST_CASE(it_has_a_call_until_that_ends)
{
    BOOST_TEST(l.is_of(1));
    BOOST_TEST(!l.is_of(3));
    BOOST_TEST(!l.is_of(0));
    BOOST_TEST(!l.take(message(token("t"))).has_value());
    const auto result = l.take(end(wire::status::ok, ""));
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST((result->trouble == errc{}));
    BOOST_TEST(l.token() == "t");
    BOOST_TEST(!l.is_of(1));
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told)
{
    const auto result = l.take(end(wire::status::invalid_argument,
        "etcdserver: authentication failed, invalid user ID or password"));
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST((result->trouble == errc::authentication_failed));
    BOOST_TEST(result->reason.find("secret") == std::string::npos);
    BOOST_TEST(l.token().empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_cannot_answer_now_is_no_wrong_password)
{
    const auto result = l.take(end(wire::status::unavailable, "etcdserver: no leader"));
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST((result->trouble == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_cluster_without_logins_needs_none)
{
    const auto result =
        l.take(end(wire::status::failed_precondition, "etcdserver: authentication is not enabled"));
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST((result->trouble == errc{}));
    BOOST_TEST(l.token().empty());
}

BOOST_AUTO_TEST_CASE(an_answer_without_a_token_is_an_error)
{
    const auto broken = l.take(message("\x12\x7f"));
    BOOST_REQUIRE(broken.has_value());
    BOOST_TEST((broken->trouble == errc::protocol_error));
}

BOOST_AUTO_TEST_CASE(success_without_a_token_is_an_error)
{
    const auto result = l.take(end(wire::status::ok, ""));
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST((result->trouble == errc::protocol_error));
}

BOOST_AUTO_TEST_CASE(another_connection_has_another_token)
{
    l.take(message(token("t")));
    l.forget();
    BOOST_TEST(l.token().empty());
    BOOST_TEST(!l.is_of(1));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
