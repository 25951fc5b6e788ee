// The order in which the addresses of a host are tried.
#include "core/address_race.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::core::address_race;
namespace core = holdfast::core;

namespace {

constexpr address_race::candidate v4{}, v6{.ipv6 = true};

struct fixture {
    address_race race;

    // The order in which all addresses are tried.
    std::string order(const std::vector<address_race::candidate>& all)
    {
        race.begin(all, at(0s), core::never);
        std::string places;
        for (core::time_point now = at(0s); race.next_at() != core::never; now += 1s) {
            if (const auto next = race.next(now))
                places += std::to_string(*next) + " ";
        }
        return places;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_address_race, fixture)

// The next address is tried while the earlier ones are silent.
BOOST_AUTO_TEST_CASE(silence)
{
    race.begin(std::vector{v4, v4, v4}, at(0s), core::never);
    BOOST_TEST(race.next(at(0s)).value() == 0u);
    BOOST_TEST(!race.next(at(0s)));
    BOOST_TEST(race.next_at() == at(250ms));
    BOOST_TEST(!race.next(at(250ms - 1ns)));
    BOOST_TEST(race.next(at(250ms)).value() == 1u);
    BOOST_TEST(race.next(at(700ms)).value() == 2u);
    BOOST_TEST(!race.next(at(1h)));
    BOOST_TEST(race.next_at() == core::never);
    BOOST_TEST(!race.lost());
}

// The last address always gets half of the time.
BOOST_AUTO_TEST_CASE(the_time_is_shared)
{
    for (const core::duration time :
        {core::duration(1s), core::duration(100ms), core::duration(0)}) {
        race.begin(std::vector{v4, v4, v4, v4, v4}, at(0s), at(0s) + time);
        core::time_point last{};
        int tried = 0;
        for (core::time_point now = at(0s); now != core::never; now = race.next_at()) {
            BOOST_TEST(race.next(now).has_value());
            last = now;
            ++tried;
        }
        BOOST_TEST(tried == 5);
        BOOST_TEST((last <= at(0s) + time / 2));
    }
}

// After a failure the next address is tried at once. When all have failed, the race is lost.
BOOST_AUTO_TEST_CASE(failures)
{
    race.begin(std::vector{v4, v4}, at(0s), core::never);
    BOOST_TEST(race.next(at(0s)).value() == 0u);
    race.failed(at(1ms));
    BOOST_TEST(race.next_at() == at(1ms));
    BOOST_TEST(race.next(at(1ms)).value() == 1u);
    BOOST_TEST(!race.lost());
    race.failed(at(2ms));
    BOOST_TEST(race.lost());
    BOOST_TEST(!race.next(at(1h)));
    race.begin({}, at(0s), core::never);
    BOOST_TEST(race.lost());
    BOOST_TEST(!race.next(at(0s)));
}

// The families alternate, because one of them may be unreachable as a whole.
BOOST_AUTO_TEST_CASE(families_alternate)
{
    BOOST_TEST(order({v6, v6, v6, v4, v4}) == "0 3 1 4 2 ");
    BOOST_TEST(order({v4, v4, v6}) == "0 2 1 ");
    BOOST_TEST(order({v6, v6}) == "0 1 ");
}

// An address that has worked comes first, and one that was silent comes last.
BOOST_AUTO_TEST_CASE(known_addresses)
{
    const address_race::candidate good{.ipv6 = false, .good = true}, silent{.silent = true},
        both{.good = true, .silent = true};
    BOOST_TEST(order({v6, v6, good}) == "2 0 1 ");
    BOOST_TEST(order({silent, v4, v4}) == "1 2 0 ");
    BOOST_TEST(order({both, v4}) == "1 0 ");
    BOOST_TEST(order({silent}) == "0 ");
}

// A name service may return thousands of addresses. The number of connections stays bounded.
BOOST_AUTO_TEST_CASE(the_number_of_connections_is_bounded)
{
    std::vector many(1000, v6);
    many.back().good = true;
    race.begin(many, at(0s), at(0s));
    BOOST_TEST(race.next(at(0s)).value() == 999u);
    std::size_t tried = 1;
    while (race.next(at(0s)))
        ++tried;
    BOOST_TEST(tried == address_race::most);
}

BOOST_AUTO_TEST_SUITE_END()
