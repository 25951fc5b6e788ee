#pragma once

// What cases of both stores do that show and take away locks.
#include "integration/sql/store.hpp"

#include <cstddef>

namespace holdfast::test {

inline task make_table(scene& s)
{
    lease once = co_await s.lock(0).acquire();
    co_await once.release();
}

/// Waits until so many wait for the resource.
inline task waiters(holdfast::locker& locker, resource what, std::size_t count)
{
    for (;;) {
        const resource_report seen = co_await locker.inspect(what);
        if (seen.queue && seen.queue->length == count)
            co_return;
        co_await pause(5ms);
    }
}

/// Takes the lock of a holder in another locker away, and sees that the next has it. The holder is
/// told at once, or finds it out when it renews. Precondition: three lockers.
inline task take_away(scene& s, lock_options held_so, bool told)
{
    lease held = co_await s.lock(0, held_so).acquire();
    call<lease> waits;
    s.lock(1, held_so).acquire(forever, waits.token());
    co_await waiters(s.locker(2), s.resource, 1);
    const auto begun = steady::now();
    const forced_release done = co_await s.locker(2).force_release(s.resource);
    BOOST_TEST(done.told == told);
    BOOST_TEST(done.deleted == 1u);
    BOOST_TEST(!done.owner.value().foreign);
    while (!waits.done())
        co_await pause(1ms);
    BOOST_TEST(!waits.error(), waits.error().message());
    const auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
    BOOST_TEST((!told || steady::now() - begun < held_so.ttl / 4)); // renewals are due later
    waits.result<lease>() = lease();
    const auto [ec, none] = co_await s.locker(2).force_release("nobody has it", no_throw);
    BOOST_TEST(ec == errc::not_held, ec.message());
}

/// Looks at rows that a person has written: "closed" is held for ever, "past" was held before all
/// time. Takes "closed" from its owner.
inline task look_at_strange_rows(scene& s)
{
    const resource_report seen = co_await s.locker().inspect("closed");
    BOOST_TEST(seen.owner.value().foreign);
    BOOST_TEST((seen.ttl_left > 24h));
    const resource_report past = co_await s.locker().inspect("past");
    BOOST_TEST(!past.held);
    const lock_list all = co_await s.locker().list("");
    BOOST_TEST(all.locks.size() == 1u);
    const forced_release done = co_await s.locker().force_release("closed");
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 1u);
}

} // namespace holdfast::test
