#include <holdfast/memory.hpp>

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace core = holdfast::core;

namespace {

// The backends of two lockers that share one store.
struct shared_store {
    holdfast::backend store = holdfast::memory();
    std::unique_ptr<core::backend_core> a = store.factory().make(1), b = store.factory().make(2);
    counting_entropy random;
    core::claim_params terms{.ttl = 1000ms, .drift = 10ms, .guard = 50ms};

    core::claim_id ask(core::backend_core& backend, std::uint64_t tag, core::time_point now)
    {
        return backend.attempt(tag, "A", *core::owner_token::make(random), terms, now);
    }
    core::backend_event event(core::backend_core& backend)
    {
        const auto e = backend.next_event();
        BOOST_REQUIRE(e.has_value());
        BOOST_REQUIRE(!backend.next_event().has_value());
        return *e;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(values_memory, shared_store)

// A store grants a resource to one owner at a time, and reports until when.
BOOST_AUTO_TEST_CASE(excludes)
{
    ask(*a, 1, at(0ms));
    const auto granted = event(*a);
    BOOST_TEST(granted.kind == core::event_kind::granted);
    BOOST_TEST(granted.tag == 1u);
    BOOST_TEST(granted.valid.until == at(990ms));
    ask(*b, 2, at(1ms));
    const auto refused = event(*b);
    BOOST_TEST(refused.kind == core::event_kind::refused);
    BOOST_TEST(refused.reason == holdfast::errc::contended);
    b->watch(3, "A", at(1ms));
    BOOST_TEST(event(*b).free_at == at(1000ms));
}

// Two stores are independent. Copies of a store are the same store.
BOOST_AUTO_TEST_CASE(stores_are_separate)
{
    const holdfast::backend copy = store;
    const auto same = copy.factory().make(3), other = holdfast::memory().factory().make(3);
    ask(*a, 1, at(0ms));
    ask(*same, 2, at(0ms));
    ask(*other, 3, at(0ms));
    BOOST_TEST(event(*same).kind == core::event_kind::refused);
    BOOST_TEST(event(*other).kind == core::event_kind::granted);
}

// A release frees the resource at once.
BOOST_AUTO_TEST_CASE(releases)
{
    const auto first = ask(*a, 1, at(0ms));
    event(*a);
    a->release(first, at(10ms));
    const auto released = event(*a);
    BOOST_TEST(released.kind == core::event_kind::released);
    BOOST_TEST(released.outcome == holdfast::release_outcome::released);
    ask(*b, 2, at(10ms));
    BOOST_TEST(event(*b).kind == core::event_kind::granted);
}

// After its ttl a grant has ended: another client may get one, and the first owner can neither
// renew nor release it.
BOOST_AUTO_TEST_CASE(expires)
{
    const auto old = ask(*a, 1, at(0ms));
    event(*a);
    ask(*b, 2, at(1000ms) - 1ns);
    BOOST_TEST(event(*b).kind == core::event_kind::refused);
    ask(*b, 3, at(1000ms));
    BOOST_TEST(event(*b).kind == core::event_kind::granted);
    a->renew({&old, 1}, false, at(1000ms));
    BOOST_TEST(event(*a).kind == core::event_kind::lost);
    a->release(old, at(1001ms));
    BOOST_TEST(event(*a).outcome == holdfast::release_outcome::expired);
    ask(*a, 4, at(1002ms));
    BOOST_TEST(event(*a).kind == core::event_kind::refused); // the new owner's grant is unchanged
}

// A renewal counts from the time of its request.
BOOST_AUTO_TEST_CASE(renews)
{
    const auto id = ask(*a, 1, at(0ms));
    event(*a);
    a->renew({&id, 1}, false, at(600ms));
    const auto renewed = event(*a);
    BOOST_TEST(renewed.kind == core::event_kind::validity);
    BOOST_TEST(renewed.valid.until == at(1590ms));
    ask(*b, 2, at(1500ms));
    BOOST_TEST(event(*b).kind == core::event_kind::refused);
}

// Every grant has a larger fencing token than all earlier grants.
BOOST_AUTO_TEST_CASE(fencing_tokens_grow)
{
    std::uint64_t last = 0;
    for (int i = 0; i < 100; ++i) {
        core::backend_core& backend = i % 2 == 0 ? *a : *b;
        const auto id = ask(backend, 1, at(1ms * i));
        const auto e = event(backend);
        BOOST_REQUIRE(e.fence.has_value());
        BOOST_TEST(*e.fence > last);
        last = *e.fence;
        backend.release(id, at(1ms * i));
        event(backend);
    }
}

BOOST_AUTO_TEST_SUITE_END()
