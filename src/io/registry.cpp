#include "io/registry.hpp"

#include <utility>

namespace holdfast::io {

asio::execution_context::id registry::id;

void registry::add(registrant& r)
{
    const std::lock_guard lock(mutex_);
    r.place_ = registrants_.insert(registrants_.end(), &r);
    r.has_place_ = true;
}

void registry::remove(registrant& r) noexcept
{
    const std::lock_guard lock(mutex_);
    if (std::exchange(r.has_place_, false))
        registrants_.erase(r.place_);
}

// Returns owning pointers, so that none is destroyed before the caller has processed it.
std::vector<std::shared_ptr<registrant>> registry::alive()
{
    std::vector<std::shared_ptr<registrant>> all;
    const std::lock_guard lock(mutex_);
    for (registrant* const r : registrants_) {
        if (auto owned = r->owned_registrant())
            all.push_back(std::move(owned));
    }
    return all;
}

// An abandoned registrant does not call remove(). Newer versions of Asio shut a context down twice:
// the second time there is no registrant to tell.
void registry::shutdown() noexcept
{
    const auto all = alive();
    {
        const std::lock_guard lock(mutex_);
        registrants_.clear();
    }
    for (const auto& e : all)
        e->abandon();
}

// A child process has copies of the parent's connections. Nodes would take its data for that of the
// parent.
void registry::notify_fork(asio::execution_context::fork_event event)
{
    if (event != asio::execution_context::fork_child)
        return;
    for (const auto& e : alive())
        e->leave_to_parent();
}

} // namespace holdfast::io
