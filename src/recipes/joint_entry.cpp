#include "recipes/joint_entry.hpp"

namespace holdfast::recipes {

joint_entry::joint_entry(std::size_t members, patience limit)
    : limit_(limit),
      claim_(members, limit.once),
      held_(members),
      errors_(members)
{}

void joint_entry::begin(time_point, steps& out)
{
    go_on(out);
}

void joint_entry::granted(std::size_t lock, time_point, const lease_view& leases, steps& out)
{
    answered(lock, {});
    held_[lock] = true;
    claim_.granted(lock);
    if (unanswered_ != 0)
        return;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (!held_[i] || leases.held(i))
            continue;
        held_[i] = false; // lost while others were waited for
        errors_[i] = make_error_code(errc::too_late);
        claim_.lost(i);
        out.push_back({.what = step::kind::drop, .lock = i});
    }
    go_on(out);
}

void joint_entry::refused(std::size_t lock, error_code why, time_point, steps& out)
{
    answered(lock, why);
    if (unanswered_ == 0)
        go_on(out);
}

void joint_entry::answered(std::size_t lock, error_code why)
{
    --unanswered_;
    errors_[lock] = why;
}

void joint_entry::go_on(steps& out)
{
    for (const auto& order : claim_.next()) {
        switch (order.what) {
        case joint_claim::step::attempt:
            ask(order.member, step::kind::try_lock, out);
            break;
        case joint_claim::step::wait:
            ask(order.member, step::kind::wait_lock, out);
            break;
        case joint_claim::step::give_back:
            held_[order.member] = false;
            out.push_back({.what = step::kind::drop, .lock = order.member});
            break;
        case joint_claim::step::take_all:
            out.push_back({.what = step::kind::succeed_with_all});
            break;
        case joint_claim::step::fail:
            out.push_back({.what = step::kind::give_up, .why = errors_[order.member]});
            break;
        }
    }
}

void joint_entry::ask(std::size_t lock, step::kind how, steps& out)
{
    ++unanswered_;
    out.push_back({.what = how, .lock = lock, .until = limit_.until});
}

} // namespace holdfast::recipes
