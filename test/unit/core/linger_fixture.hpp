#pragma once

#include "support/locker_fixture.hpp"

#include <chrono>

namespace holdfast::test {

struct linger_fixture : lease_fixture {
    linger_fixture()
    {
        usual.linger = std::chrono::seconds(2);
        usual.handoff_time = std::chrono::hours(1);
        store.has_tokens = true;
    }

    // A lease on A that lingers since now.
    core::claim_id lingering()
    {
        const core::slot_id lease = lease_of("A");
        locker.release(lease, 77, now);
        effects();
        calls();
        return claim_of("A");
    }
};

} // namespace holdfast::test
