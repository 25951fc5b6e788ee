#include "core/slot_map.hpp"

#include "core/owner_token.hpp"
#include "core/ring.hpp"
#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <map>
#include <random>
#include <set>

using namespace holdfast::core;
using holdfast::test::counting_entropy;

BOOST_AUTO_TEST_SUITE(core_containers)

// An id finds its element until that is given back, and nothing afterwards, even when the slot is
// used again.
BOOST_AUTO_TEST_CASE(stale_ids_find_nothing)
{
    slot_map<int> s;
    BOOST_TEST(s.find(0) == nullptr);
    const slot_id first = s.take();
    BOOST_TEST(first != 0u);
    s[first] = 7;
    s.give_back(first);
    BOOST_TEST(s.find(first) == nullptr);
    BOOST_TEST(s.id_at(slot_index(first)) == 0u);
    const slot_id second = s.take();
    BOOST_TEST(slot_index(second) == slot_index(first));
    BOOST_TEST(second != first);
    BOOST_TEST(s.find(first) == nullptr);
    BOOST_TEST(s.find(second) != nullptr);
    BOOST_TEST(s.id_at(slot_index(second)) == second);
    BOOST_TEST(s.id_at(99) == 0u);
}

// In any order of operations, elements in use keep their address and their value.
BOOST_AUTO_TEST_CASE(random_operations)
{
    std::mt19937 random(1);
    slot_map<unsigned> s;
    std::map<slot_id, unsigned*> used;
    std::set<slot_id> ever;
    for (unsigned i = 0; i < 20'000; ++i) {
        if (used.empty() || random() % 2 == 0) {
            const slot_id id = s.take();
            BOOST_REQUIRE(ever.insert(id).second); // never used before
            used[id] = &s[id];
            s[id] = static_cast<unsigned>(id ^ 0x5555);
        } else {
            const auto chosen = std::next(
                used.begin(), static_cast<int>(random() % std::min<std::size_t>(used.size(), 9)));
            BOOST_REQUIRE(s.find(chosen->first) == chosen->second);
            BOOST_REQUIRE(*chosen->second == static_cast<unsigned>(chosen->first ^ 0x5555));
            s.give_back(chosen->first);
            used.erase(chosen);
        }
        BOOST_REQUIRE(s.size() == used.size());
    }
    BOOST_TEST(s.capacity() < 1000u);
}

// A ring is first in, first out, while it grows and wraps around.
BOOST_AUTO_TEST_CASE(ring_is_a_queue)
{
    std::mt19937 random(2);
    ring<int> r;
    std::deque<int> model;
    for (int i = 0; i < 20'000; ++i) {
        if (random() % 100 < (i < 10'000 ? 55u : 45u)) {
            r.push(i);
            model.push_back(i);
        } else if (!model.empty()) {
            BOOST_REQUIRE(r.front() == model.front());
            BOOST_REQUIRE(r.pop() == model.front());
            model.pop_front();
        }
        BOOST_REQUIRE(r.size() == model.size());
        BOOST_REQUIRE(r.empty() == model.empty());
    }
}

// An owner token is 128 random bits and the stamp, in base64url. All bits are used, and tokens
// differ, whatever the stamp is.
BOOST_AUTO_TEST_CASE(owner_tokens)
{
    class fixed final : public entropy {
    public:
        bool fill(std::span<std::byte> out) noexcept override
        {
            BOOST_TEST(out.size() == 16u);
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = static_cast<std::byte>(i * 0x11);
            return true;
        }
    } source;
    const token_stamp stamp{.seconds = 0x6ab12345, .client = 0xdeadbeef};
    const auto token = owner_token::make(source, stamp);
    BOOST_TEST(token.value().view() == "ABEiM0RVZneImaq7zN3u_2qxI0Xerb7v");
    BOOST_TEST((owner_token::stamp_of(token->view()) == stamp));
    for (const char* const none : {"", "ABEiM0RVZneImaq7zN3u_2qxI0Xerb7",
             "ABEiM0RVZneImaq7zN3u_2qxI0Xerb7vA", "ABEiM0RVZneImaq7zN3u/2qxI0Xerb7v"})
        BOOST_TEST(!owner_token::stamp_of(none));
    counting_entropy random;
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i)
        BOOST_TEST(seen.emplace(owner_token::make(random).value().view()).second);
}

BOOST_AUTO_TEST_SUITE_END()
