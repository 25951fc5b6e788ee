#pragma once

#include "recipes/errand.hpp"
#include "recipes/joint_claim.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace holdfast::recipes {

// How the members of a joint lock are acquired, which are the locks from 0 on in their order. It
// performs a claim: asks for members, waits until all that were asked for have answered, and gives
// back what was lost meanwhile. All waits have one deadline.
class joint_entry final : public errand {
public:
    joint_entry(std::size_t members, patience limit);

    void begin(time_point now, steps& out) override;
    void granted(std::size_t lock, time_point now, const lease_view& leases, steps& out) override;
    void refused(std::size_t lock, error_code why, time_point now, steps& out) override;
    void woken(time_point, steps&) override {}

private:
    void answered(std::size_t lock, error_code why);
    void go_on(steps& out);
    void ask(std::size_t lock, step::kind how, steps& out);

    const patience limit_;
    joint_claim claim_;
    std::vector<bool> held_;         // by their last answer
    std::vector<error_code> errors_; // of their last answer
    std::size_t unanswered_ = 0;
};

// When leases that are held together end: with the first of them. `min()` for none.
template <class Leases, class End>
auto joint_end(const Leases& together, End end_of) noexcept
{
    using instant = decltype(end_of(*std::begin(together)));
    instant first = std::empty(together) ? instant::min() : instant::max();
    for (const auto& each : together)
        first = std::min(first, end_of(each));
    return first;
}

} // namespace holdfast::recipes
