#include "io/registry.hpp"

#include "io/engine.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::io {

asio::execution_context::id registry::id;

void registry::add(engine& e)
{
    const std::lock_guard lock(mutex_);
    engines_.push_back(&e);
}

void registry::remove(engine& e) noexcept
{
    const std::lock_guard lock(mutex_);
    engines_.erase(std::remove(engines_.begin(), engines_.end(), &e), engines_.end());
}

// Returns owning pointers, so that no engine is destroyed before the caller has processed it.
std::vector<std::shared_ptr<engine>> registry::alive()
{
    std::vector<std::shared_ptr<engine>> all;
    const std::lock_guard lock(mutex_);
    for (engine* const e : engines_) {
        if (auto owned = e->weak_from_this().lock())
            all.push_back(std::move(owned));
    }
    return all;
}

void registry::shutdown() noexcept
{
    for (const auto& e : alive())
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
