// The owner of a key, according to the answers of all nodes.
#include "redis/quorum/owner_survey.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace holdfast::redis {
namespace {

using finding = owner_survey::finding;
constexpr std::uint64_t nobody = owner_survey::nobody, other_data = owner_survey::other_data;
constexpr std::uint64_t dead = 7, living = 8, another = 9;
constexpr std::optional<std::uint64_t> silent;

owner_survey survey(std::initializer_list<std::optional<std::uint64_t>> owners)
{
    owner_survey s(owners.size());
    std::size_t node = 0;
    for (const auto& owner : owners) {
        if (owner)
            s.record(node, *owner);
        ++node;
    }
    return s;
}

BOOST_AUTO_TEST_SUITE(surveys_of_owners)

// The queue node is node 0.
BOOST_AUTO_TEST_CASE(findings)
{
    const auto found = [](std::initializer_list<std::optional<std::uint64_t>> owners) {
        return survey(owners).judge(0);
    };
    // The holder is alive, or another client is about to be the holder.
    BOOST_TEST((found({living, living, living}) == finding::open));
    BOOST_TEST((found({living, living, nobody, nobody, living}) == finding::open));
    BOOST_TEST((found({living, living, another, another, nobody}) == finding::open));
    BOOST_TEST((found({nobody, living, living}) == finding::open));
    // The queue node's key belongs to another client, or to one without a majority.
    BOOST_TEST((found({dead, nobody, nobody}) == finding::free));
    BOOST_TEST((found({dead, dead, nobody, nobody, nobody}) == finding::free));
    BOOST_TEST((found({nobody, nobody, nobody}) == finding::free));
    BOOST_TEST((found({dead, living, living}) == finding::elsewhere));
    BOOST_TEST((found({other_data, living, living}) == finding::elsewhere));
    BOOST_TEST((found({dead, living, dead, living, living}) == finding::elsewhere));
    // With an even number, three are needed.
    BOOST_TEST((found({dead, living, living, nobody}) == finding::open));
    BOOST_TEST((found({dead, nobody, nobody, living}) == finding::open));
    // Other data alone prevents a majority.
    BOOST_TEST((found({other_data, other_data, nobody}) == finding::conflict));
    BOOST_TEST((found({nobody, other_data, nobody, other_data}) == finding::conflict));
    BOOST_TEST((found({nobody, other_data, nobody, other_data, nobody}) == finding::free));
}

// Silence does not mean a free key.
BOOST_AUTO_TEST_CASE(answers_that_are_missing)
{
    BOOST_TEST((survey({silent, nobody, nobody}).judge(0) == finding::open));
    BOOST_TEST((survey({dead, nobody, silent}).judge(0) == finding::open));
    BOOST_TEST((survey({dead, silent, living, living, living}).judge(0) == finding::elsewhere));
    owner_survey s = survey({silent, nobody, nobody});
    s.record_silence(0); // it has answered, without an owner
    BOOST_TEST((s.judge(0) == finding::free));
    BOOST_TEST(!s.is_minority(0));
    BOOST_TEST((owner_survey(3).judge(0) == finding::open));
}

BOOST_AUTO_TEST_CASE(minorities)
{
    const owner_survey s = survey({dead, living, living, nobody, living});
    BOOST_TEST(s.is_minority(0));
    BOOST_TEST(!s.is_minority(1));
    BOOST_TEST(!s.is_minority(3));
    BOOST_TEST(s.owner(0) == dead);
}

// No token has the value of a free key or of other data.
BOOST_AUTO_TEST_CASE(owners)
{
    BOOST_TEST(owner_survey::owner_of("a") > other_data);
    BOOST_TEST(owner_survey::owner_of("a") != owner_survey::owner_of("b"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::redis
