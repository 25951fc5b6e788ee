#pragma once

#include "core/locker_core.hpp"
#include "core/params.hpp"
#include "support/printing.hpp"
#include "support/scripted_backend.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

// Bits that are not random, but differ from call to call.
class counting_entropy final : public core::entropy {
public:
    bool fill(std::span<std::byte> out) noexcept override
    {
        ++calls;
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<std::byte>(i < 8 ? calls >> (8 * i) : 0);
        return true;
    }
    std::uint64_t calls = 0;
};

// A locker core on a scripted backend, with a clock that the test moves.
struct locker_fixture {
    scripted_backend store;
    counting_entropy random;
    locker_options options{
        .retry_min = std::chrono::milliseconds(8), .retry_max = std::chrono::milliseconds(128)};
    core::locker_core locker{store, random, options, 1};
    core::time_point now = start;
    lock_options usual{.ttl = std::chrono::seconds(9)};

    void pass(core::duration d) { now += d; }

    core::slot_id acquire(std::uint64_t tag, std::string_view resource = "A",
        std::chrono::milliseconds wait = std::chrono::seconds(10))
    {
        return locker.acquire(tag, resource, core::terms_of(usual), wait, false, now);
    }
    core::slot_id try_acquire(std::uint64_t tag, std::string_view resource = "A")
    {
        return locker.acquire(
            tag, resource, core::terms_of(usual), std::chrono::milliseconds(0), true, now);
    }

    // Moves the clock to the next wake-up time of the locker, and wakes it.
    void sleep()
    {
        BOOST_REQUIRE(locker.wake_at() != core::never);
        now = std::max(now, locker.wake_at());
        locker.wake(now);
    }

    // Wakes the locker at all its wake-up times until `end`.
    void sleep_until(core::time_point end)
    {
        while (locker.wake_at() <= end)
            sleep();
        now = end;
        locker.wake(now);
    }

    // Refuses the open attempt.
    void refuse(errc reason = errc::contended)
    {
        store.refuse(store.latest, reason);
        locker.wake(now);
    }

    // Sleeps until the locker makes another attempt.
    void sleep_until_asked()
    {
        const std::size_t before = store.attempts();
        while (store.attempts() == before)
            sleep();
    }

    // All effects since the last call, as text, in order.
    std::string effects()
    {
        std::string all;
        while (const auto e = locker.next_effect()) {
            all += all.empty() ? "" : ", ";
            all += in_words(*e);
        }
        return all;
    }

    // Grants the only open attempt. Returns the lease.
    core::slot_id granted()
    {
        store.grant(store.latest);
        locker.wake(now);
        return handed_over();
    }

    // The lease that was transferred to a waiter, or 0.
    core::slot_id handed_over()
    {
        core::slot_id lease = 0;
        while (const auto e = locker.next_effect()) {
            if (e->kind == core::effect_kind::acquired)
                lease = e->lease;
        }
        return lease;
    }

    std::string calls()
    {
        std::string all;
        for (const std::string& line : store.calls)
            all += (all.empty() ? "" : ", ") + line;
        store.calls.clear();
        return all;
    }

    locker_stats stats() const
    {
        locker_stats s;
        locker.add_to(s);
        return s;
    }

    static std::string in_words(const core::effect& e)
    {
        const std::string reason(name_of(e.reason));
        const std::string tag = std::to_string(e.tag);
        switch (e.kind) {
        case core::effect_kind::acquired:
            return tag + " acquired";
        case core::effect_kind::wait_ended:
            return tag + " ended: " + reason;
        case core::effect_kind::must_stop:
            return "must stop";
        case core::effect_kind::gone:
            return "gone";
        case core::effect_kind::extended:
            return "extended: " + reason;
        case core::effect_kind::released: {
            constexpr std::string_view outcomes[] = {"released", "expired", "unconfirmed"};
            return tag + " " + std::string(outcomes[static_cast<std::size_t>(e.outcome)]);
        }
        case core::effect_kind::drained:
            return "drained";
        case core::effect_kind::closed:
            return "closed";
        }
        return "?";
    }
};

// The same, for tests that begin with a lease.
struct lease_fixture : locker_fixture {
    core::slot_id lease_of(std::string_view resource)
    {
        acquire(1, resource, holdfast::forever);
        const core::slot_id lease = granted();
        calls();
        return lease;
    }
    core::claim_id claim_of(std::string_view resource) const
    {
        core::claim_id found = 0;
        for (const auto& [id, c] : store.claims)
            found = c.resource == resource && c.now == scripted_backend::stage::held ? id : found;
        return found;
    }
    // The end of a lease that was requested at the start and never renewed.
    static constexpr core::time_point end = at(std::chrono::milliseconds(9000 - 92));
};

} // namespace holdfast::test
