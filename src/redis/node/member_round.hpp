#pragma once

#include "core/connection.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/slot_table.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace holdfast::redis {

// The members of a cluster that are asked one after the other, and why they
// have not answered. The member that has answered last comes first, because a
// silent one costs time; then the primaries that are known, then the seeds.
class member_round {
public:
    explicit member_round(std::vector<core::address> seeds) : seeds_(std::move(seeds)) {}

    void begin(const slot_table& known);
    // The next member to ask; null if all were asked.
    const core::address* next() noexcept
    {
        return next_ == members_.size() ? nullptr : &members_[next_++];
    }
    // The member that was asked last has answered, or has failed.
    void answered() { answered_ = members_[next_ - 1]; }
    void failed(const failure& why);
    // Why none of them has answered.
    const failure& why_not() const noexcept { return why_not_; }

private:
    void add(const core::address& where);

    const std::vector<core::address> seeds_;
    std::vector<core::address> members_;
    std::size_t next_ = 0;
    core::address answered_; // the last that has answered, in this round or before
    failure why_not_;
};

} // namespace holdfast::redis
