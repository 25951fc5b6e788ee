// Invariants of the locker core under random sequences of events.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

namespace {

// Callers and a backend that act at random, and a record of what must follow.
struct world : locker_fixture {
    explicit world(unsigned seed) : dice(seed)
    {
        usual.ttl = 300ms;
        usual.handoff_limit = 2;
    }

    std::mt19937 dice;
    std::uint64_t last_tag = 0;
    std::map<std::uint64_t, std::string> waiting;       // the resource, by tag
    std::map<std::uint64_t, slot_id> wait_ids;          // waits that can be cancelled
    std::map<slot_id, std::string> leases;              // with a live lease object
    std::map<std::string, slot_id> working;             // leases under which work may go on
    std::map<std::string, std::uint64_t> last_acquired; // tag, by resource
    std::set<std::uint64_t> releases;                   // without an outcome yet
    std::set<claim_id> unanswered;                      // releases without the backend's answer
    bool draining = false, drained = false, closed = false;

    unsigned roll(unsigned limit) { return static_cast<unsigned>(dice() % limit); }

    void begin_wait()
    {
        const std::string name(1, static_cast<char>('A' + roll(3)));
        constexpr std::chrono::milliseconds waits[] = {
            0ms, 5ms, 20ms, 20ms, 100ms, holdfast::forever};
        const std::uint64_t tag = ++last_tag;
        waiting[tag] = name;
        const bool once = roll(5) == 0;
        usual.renewal = roll(3) == 0 ? holdfast::renewal::manual : holdfast::renewal::automatic;
        usual.linger = roll(3) == 0 ? 40ms : 0ms;
        const slot_id id = locker.acquire(tag, name, terms_of(usual), waits[roll(6)], once, now);
        if (id != 0)
            wait_ids[tag] = id;
    }

    void cancel_one()
    {
        if (wait_ids.empty())
            return;
        const auto chosen =
            std::next(wait_ids.begin(), roll(static_cast<unsigned>(wait_ids.size())));
        if (locker.cancel(chosen->second, roll(2) == 0, now)) {
            BOOST_REQUIRE(waiting.erase(chosen->first) == 1u);
            wait_ids.erase(chosen);
        }
    }

    void use_lease()
    {
        if (leases.empty())
            return;
        const auto chosen = std::next(leases.begin(), roll(static_cast<unsigned>(leases.size())));
        const slot_id lease = chosen->first;
        switch (roll(3)) {
        case 0:
            locker.extend(lease, now);
            break;
        case 1:
            if (locker.release(lease, ++last_tag, now))
                BOOST_REQUIRE(releases.insert(last_tag).second);
            break;
        default:
            locker.drop(lease, now);
            leases.erase(chosen);
        }
    }

    // The backend answers some of the open requests.
    void answer()
    {
        for (auto& [id, c] : store.claims) {
            using stage = scripted_backend::stage;
            if (c.now == stage::asking && roll(2) == 0) {
                constexpr errc reasons[] = {
                    errc::contended, errc::unreachable, errc::permission_denied};
                roll(2) == 0
                    ? store.refuse(id, reasons[roll(3)])
                    : store.grant(id, std::max(now, c.asked + 200ms) + 1ms * int(roll(90)));
            } else if (c.now == stage::held && roll(4) == 0) {
                roll(4) == 0 ? store.lose(id) : store.confirm(id, now + 1ms * int(1 + roll(297)));
            } else if (c.reports && !c.released && roll(8) == 0) {
                store.others_wait(id);
            } else if (c.released && unanswered.contains(id)) {
                unanswered.erase(id);
                store.end_release(id);
            }
            locker.wake(now);
            note();
        }
    }

    // Records the effects and checks them.
    void note()
    {
        while (const auto e = locker.next_effect()) {
            BOOST_TEST_CHECKPOINT(in_words(*e));
            switch (e->kind) {
            case effect_kind::acquired: {
                BOOST_REQUIRE(waiting.contains(e->tag)); // ends once, and not if cancelled
                const std::string name = waiting[e->tag];
                BOOST_REQUIRE(!working.contains(name));      // exclusion inside the process
                BOOST_REQUIRE(last_acquired[name] < e->tag); // first come, first served
                BOOST_REQUIRE(!draining);
                last_acquired[name] = e->tag;
                working[name] = e->lease;
                leases[e->lease] = name;
                finish(e->tag);
                break;
            }
            case effect_kind::wait_ended:
                finish(e->tag);
                break;
            case effect_kind::must_stop:
            case effect_kind::gone:
                stop(e->lease);
                break;
            case effect_kind::extended:
                break;
            case effect_kind::released:
                BOOST_REQUIRE(releases.erase(e->tag) == 1u);
                break;
            case effect_kind::drained:
                BOOST_REQUIRE(draining);
                BOOST_REQUIRE(waiting.empty());
                BOOST_REQUIRE(working.empty());
                BOOST_REQUIRE(stats().held == 0u);
                drained = true;
                break;
            case effect_kind::closed:
                BOOST_REQUIRE(!closed);
                closed = true;
            }
        }
        for (const auto& [id, c] : store.claims) {
            if (c.released && answered.insert(id).second)
                unanswered.insert(id);
        }
        const auto s = stats();
        BOOST_REQUIRE(s.waiting == waiting.size());
        for (const auto& [name, lease] : working)
            BOOST_REQUIRE(locker.leases().must_stop(lease) == errc{});
    }

    void finish(std::uint64_t tag)
    {
        BOOST_REQUIRE(waiting.erase(tag) == 1u);
        wait_ids.erase(tag);
    }

    void stop(slot_id lease)
    {
        std::erase_if(working, [lease](const auto& each) { return each.second == lease; });
    }

    void step()
    {
        store.grant_at_once = roll(10) == 0;
        store.refuse_at_once = roll(10) == 0 ? std::optional(errc::unreachable) : std::nullopt;
        switch (roll(8)) {
        case 0:
        case 1:
            begin_wait();
            break;
        case 2:
            cancel_one();
            break;
        case 3:
            use_lease();
            break;
        case 4:
        case 5:
            answer();
            break;
        case 6:
            pass(1ms * int(roll(30)));
            break;
        default:
            if (locker.wake_at() != never)
                now = std::max(now, locker.wake_at());
        }
        if (roll(3) == 0) // the next call comes before the next turn
            return note();
        locker.wake(now);
        note();
        BOOST_REQUIRE(locker.wake_at() > now);
    }

    // Everything goes on, but nothing is granted any more.
    void drain_and_check()
    {
        const auto limit = 1ms * int(roll(600));
        const time_point ends = now + limit + 30ms + 50ms; // a step that is late, and the guard
        draining = true;
        locker.drain(limit, now);
        note();
        BOOST_REQUIRE(waiting.empty());
        while (!drained) {
            BOOST_REQUIRE(now <= ends);
            BOOST_REQUIRE(locker.wake_at() <= ends);
            step();
        }
    }

    void close_and_check()
    {
        store.grant_at_once = false;
        store.refuse_at_once = std::nullopt;
        store.deletions = roll(2);
        const time_point began = now;
        draining = true;
        locker.close(now);
        note();
        BOOST_REQUIRE(waiting.empty());
        BOOST_REQUIRE(working.empty());
        while (!closed) {
            sleep();
            note();
        }
        BOOST_REQUIRE(now <= began + 50ms + 500ms); // the guard and the patience
        answer();
        BOOST_REQUIRE(releases.empty());
        for (const auto& [id, c] : store.claims) {
            BOOST_REQUIRE(c.now == scripted_backend::stage::ended);
            BOOST_REQUIRE(c.released == c.granted);
        }
        for (const auto& [lease, name] : leases)
            locker.drop(lease, now);
        note();
        const auto s = stats();
        BOOST_REQUIRE(s.held == 0u);
        BOOST_REQUIRE(s.acquired == s.released + s.lost);
        BOOST_REQUIRE(locker.wake_at() == never);
    }

    std::set<claim_id> answered;
};

} // namespace

BOOST_AUTO_TEST_SUITE(core_locker_random)

// In any order of events: every wait ends once, in order, by a lease, an error or its cancellation.
// Two holders of this process never work under one resource. Every granted claim is given back
// once. Work is told to stop before another holder may begin. Draining ends in time, and grants
// nothing. Closing ends, and ends everything.
BOOST_AUTO_TEST_CASE(any_order_of_events)
{
    for (unsigned seed = 1; seed <= 1500; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            world w(seed);
            for (int i = 0; i < 150; ++i)
                w.step();
            if (seed % 3 == 0)
                w.drain_and_check();
            w.close_and_check();
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
