#pragma once

#include "core/store_cleanup.hpp"
#include "redis/cleanup.hpp"
#include "redis/inspection/inspection.hpp"
#include "redis/queue/batons.hpp"

#include <cstddef>

namespace holdfast::redis {

// What nodes are still to delete when the locker has nothing any more: the keys of its claims, and
// the record of the client.
class last_requests final : public core::store_cleanup {
public:
    last_requests(const cleanup& deletions, const batons& given, inspection& people) noexcept
        : deletions_(deletions),
          given_(given),
          people_(people)
    {}

    // core::store_cleanup
    void wind_up(core::time_point now) override { people_.withdraw(now); }
    std::size_t under_way() const noexcept override
    {
        return deletions_.under_way() + given_.under_way() + people_.record().under_way();
    }

private:
    const cleanup& deletions_;
    const batons& given_;
    inspection& people_;
};

} // namespace holdfast::redis
