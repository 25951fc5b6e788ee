#include "recipes/joint_claim.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::recipes {

std::vector<joint_claim::order> joint_claim::next()
{
    const std::size_t missing = first_missing();
    if (missing == held_.size())
        return {{step::take_all}};
    // The wait was refused, or its grant was lost at once.
    if (std::exchange(waited_for_, none) == missing)
        return give_up(missing);

    std::vector<order> orders;
    if (!std::exchange(attempted_, true)) {
        for (std::size_t i = missing; i < held_.size(); ++i) {
            if (!held_[i])
                orders.push_back({step::attempt, i});
        }
        return orders;
    }
    if (once_)
        return give_up(missing);
    for (std::size_t i = missing + 1; i < held_.size(); ++i) {
        if (held_[i])
            orders.push_back({step::give_back, i});
        held_[i] = false;
    }
    orders.push_back({step::wait, missing});
    waited_for_ = missing;
    attempted_ = false;
    return orders;
}

std::size_t joint_claim::first_missing() const
{
    return static_cast<std::size_t>(std::find(held_.begin(), held_.end(), false) - held_.begin());
}

std::vector<joint_claim::order> joint_claim::give_up(std::size_t cause)
{
    std::vector<order> orders;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (held_[i])
            orders.push_back({step::give_back, i});
        held_[i] = false;
    }
    orders.push_back({step::fail, cause});
    return orders;
}

} // namespace holdfast::recipes
