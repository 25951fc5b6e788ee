#include "core/token_source.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct ones final : entropy {
    bool has_some = true;
    bool fill(std::span<std::byte> out) noexcept override
    {
        std::fill(out.begin(), out.end(), std::byte(1));
        return has_some;
    }
};

struct numbered final : inspector {
    std::uint32_t id = 7;

    void introduce(const client_identity&, time_point) override {}
    std::uint32_t client_id() const noexcept override { return id; }
    void begin(const inspection_request&, time_point) override {}
    void forget(std::uint64_t) override {}
    std::optional<inspection_result> next_result() override { return std::nullopt; }
};

token_stamp stamp_of(const std::optional<owner_token>& token)
{
    BOOST_REQUIRE(token.has_value());
    return owner_token::stamp_of(token->view()).value();
}

} // namespace

BOOST_AUTO_TEST_SUITE(core_token_source)

// The id of a locker may change, and the wall clock may be set.
BOOST_AUTO_TEST_CASE(stamps_the_time_and_the_client)
{
    ones random;
    numbered people;
    token_source tokens(random, &people);
    tokens.set_wall_clock(5000s - start.time_since_epoch());
    BOOST_TEST((stamp_of(tokens.next(at(1900ms))) == token_stamp{5001, 7}));
    people.id = 8;
    tokens.set_wall_clock(1000s - start.time_since_epoch());
    BOOST_TEST((stamp_of(tokens.next(at(2s))) == token_stamp{1002, 8}));
}

BOOST_AUTO_TEST_CASE(a_store_that_tells_nothing_has_no_client)
{
    ones random;
    token_source tokens(random, nullptr);
    BOOST_TEST(stamp_of(tokens.next(start)).client == 0u);
}

BOOST_AUTO_TEST_CASE(makes_no_weak_token)
{
    ones random;
    random.has_some = false;
    token_source tokens(random, nullptr);
    BOOST_TEST(!tokens.next(start).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
