// The scripts of guarded writes on a real server.
#include "integration/protected_store.hpp"

namespace holdfast::test {
namespace {

const std::vector<std::string> no_tokens{"", "abc", "-1", "1.5", " 1", "1 ", "1\n", "0x10", "1e3",
    "inf", "nan", "9007199254740992", "9007199254740993", "18446744073709551617",
    std::string(400, '9'), std::string("1\0002", 3)};

BOOST_FIXTURE_TEST_SUITE(guarded_writes, protected_store)

BOOST_AUTO_TEST_CASE(the_first_token_is_accepted_and_remembered)
{
    put(stock, "5");
    BOOST_TEST(set(1'000, "4") == "OK");
    BOOST_TEST(value(stock) == "4");
    BOOST_TEST(value(fence) == "1000");
    BOOST_TEST(server.command({"PTTL", fence}) == "-1");
}

BOOST_AUTO_TEST_CASE(a_stale_token_is_refused_without_a_change)
{
    put(stock, "5");
    put(fence, "1000");
    for (const auto& what : each(999))
        expect_refusal(what, "FENCED");
    BOOST_TEST(send(guarded_get(fence, 999, stock)).find("with token 1000") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_equal_token_is_accepted)
{
    put(fence, "1000");
    for (const auto& what : each(1'000)) {
        put(stock, "5");
        const auto reply = send(what);
        BOOST_TEST(!reply.starts_with("(error)"), reply);
        BOOST_TEST(value(fence) == "1000");
    }
}

BOOST_AUTO_TEST_CASE(a_larger_token_is_accepted_and_remembered)
{
    std::uint64_t token = 1'000;
    put(fence, std::to_string(token));
    for (std::size_t kind = 0; kind < each(token).size(); ++kind) {
        put(stock, "5");
        const auto reply = send(each(++token)[kind]);
        BOOST_TEST(!reply.starts_with("(error)"), reply);
        BOOST_TEST(value(fence) == std::to_string(token));
    }
}

// As strings, or as numbers of 32 bits or fewer, these would be compared wrongly.
BOOST_AUTO_TEST_CASE(tokens_are_compared_exactly_as_numbers)
{
    const std::vector<std::uint64_t> rising{9, 10, 99, 100, 4'294'967'295, 4'294'967'296,
        9'007'199'254'740'989, 9'007'199'254'740'990, largest_guarded_number};
    for (const auto token : rising) {
        BOOST_TEST(set(token, std::to_string(token)) == "OK");
        expect_refusal(guarded_set(fence, token - 1, stock, "old"), "FENCED");
        BOOST_TEST(value(stock) == std::to_string(token));
    }
}

BOOST_AUTO_TEST_CASE(garbage_under_the_fence_key_is_refused_without_a_change)
{
    put(stock, "5");
    for (const auto& garbage : no_tokens) {
        put(fence, garbage);
        for (const auto& what : each(1'000))
            expect_refusal(what, "BADFENCE");
    }
}

BOOST_AUTO_TEST_CASE(garbage_as_a_token_is_refused_without_a_change)
{
    put(stock, "5");
    for (auto what : each(1'000)) {
        for (const auto& garbage : no_tokens) {
            what.arguments[0] = garbage;
            expect_refusal(what, "BADFENCE");
        }
        what.arguments[0] = "0";
        expect_refusal(what, "BADFENCE");
    }
}

BOOST_AUTO_TEST_CASE(a_fence_key_of_another_type_is_refused_without_a_change)
{
    put(stock, "5");
    for (const auto& make : std::vector<std::vector<std::string>>{{"RPUSH", fence, "1"},
             {"SADD", fence, "1"}, {"ZADD", fence, "1", "1"}, {"HSET", fence, "1", "1"}}) {
        server.command({"DEL", fence});
        server.command(make);
        for (const auto& what : each(1'000))
            expect_refusal(what, "WRONGTYPE");
    }
}

BOOST_AUTO_TEST_CASE(a_value_of_another_type_is_refused_without_a_change)
{
    put(fence, "1000");
    server.command({"RPUSH", stock, "5"});
    expect_refusal(guarded_get(fence, 1'001, stock), "WRONGTYPE");
    expect_refusal(guarded_set(fence, 1'001, stock, "4"), "WRONGTYPE");
    expect_refusal(guarded_take(fence, 1'001, stock, 1), "WRONGTYPE");
}

BOOST_AUTO_TEST_CASE(values_may_contain_any_bytes)
{
    const std::string bytes("\0\r\n\xff'\"]]", 8);
    BOOST_TEST(get(1'000) == "(nil)");
    BOOST_TEST(set(1'000, bytes) == "OK");
    BOOST_TEST(get(1'000) == bytes);
    BOOST_TEST(set(1'000, "") == "OK");
    BOOST_TEST(get(1'000) == "");
}

BOOST_AUTO_TEST_CASE(the_stock_never_goes_below_zero)
{
    put(stock, "5");
    BOOST_TEST(take(1'000, 3) == "2");
    BOOST_TEST(take(1'001, 3) == "-1");
    BOOST_TEST(value(stock) == "2");
    BOOST_TEST(value(fence) == "1001"); // the token is recorded all the same
    BOOST_TEST(take(1'001, 2) == "0");
    BOOST_TEST(take(1'001, 1) == "-1");
    BOOST_TEST(take(1'001, 0) == "0");
    BOOST_TEST(value(stock) == "0");
}

BOOST_AUTO_TEST_CASE(a_missing_stock_counts_as_zero)
{
    BOOST_TEST(take(1'000, 1) == "-1");
    BOOST_TEST(server.command({"EXISTS", stock}) == "0");
}

BOOST_AUTO_TEST_CASE(large_stocks_are_exact_and_larger_ones_refused)
{
    put(stock, std::to_string(largest_guarded_number));
    BOOST_TEST(take(1'000, 1) == std::to_string(largest_guarded_number - 1));
    BOOST_TEST(take(1'000, largest_guarded_number) == "-1");
    BOOST_TEST(take(1'000, largest_guarded_number - 1) == "0");
    put(stock, std::to_string(largest_guarded_number + 1));
    expect_refusal(guarded_take(fence, 1'000, stock, 1), "BADSTOCK");
}

BOOST_AUTO_TEST_CASE(a_stock_or_an_amount_that_is_no_number_is_refused_without_a_change)
{
    auto garbage = no_tokens;
    garbage.push_back("007"); // DECRBY would refuse it in the middle of the script
    for (const auto& text : garbage) {
        put(stock, text);
        expect_refusal(guarded_take(fence, 1'000, stock, 1), "BADSTOCK");
    }
    put(stock, "5");
    auto what = guarded_take(fence, 1'000, stock, 1);
    for (const auto& text : no_tokens) {
        what.arguments[1] = text;
        expect_refusal(what, "BADSTOCK");
    }
    what.arguments[1] = "002";
    BOOST_TEST(send(what) == "3");
}

BOOST_AUTO_TEST_CASE(a_ttl_of_the_stock_is_kept)
{
    server.command({"SET", stock, "5", "PX", "60000"});
    BOOST_TEST(take(1'000, 1) == "4");
    BOOST_TEST(std::stol(server.command({"PTTL", stock})) > 0);
}

BOOST_AUTO_TEST_CASE(the_server_understands_the_encoded_command)
{
    const int socket = open_socket();
    const auto address = loopback(server.port());
    BOOST_REQUIRE(
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const auto bytes = guarded_set(fence, 1'000, stock, "a\r\nb").encoded();
    BOOST_REQUIRE(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                  static_cast<ssize_t>(bytes.size()));
    BOOST_TEST(reply_reader(socket).read() == "OK");
    ::close(socket);
    BOOST_TEST(value(stock) == "a\r\nb");
}

BOOST_AUTO_TEST_CASE(a_loaded_script_can_be_called_by_its_digest)
{
    const auto what = guarded_set(fence, 1'000, stock, "4");
    auto words = what.command();
    words[0] = "EVALSHA";
    words[1] = server.command({"SCRIPT", "LOAD", what.script});
    BOOST_TEST(server.command(words) == "OK");
    BOOST_TEST(value(stock) == "4");
}

BOOST_AUTO_TEST_CASE(the_server_counts_refusals)
{
    put(fence, "1000");
    for (const auto& what : each(999))
        send(what);
    const auto counted = server.command({"INFO", "errorstats"});
    BOOST_TEST(counted.find("errorstat_FENCED:count=4\r\n") != std::string::npos, counted);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
