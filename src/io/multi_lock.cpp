#include <holdfast/multi_lock.hpp>

#include "io/joint_operations.hpp"
#include "io/recipe_locks.hpp"
#include "recipes/joint_entry.hpp"

#include <boost/asio/strand.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast {

namespace {

std::vector<lock> locks_on(
    locker& owner, std::vector<resource> resources, const lock_options& options)
{
    std::vector<lock> members;
    members.reserve(resources.size());
    for (resource& each : resources)
        members.emplace_back(owner, std::move(each), options);
    return members;
}

std::vector<lock> in_order(std::vector<lock> members)
{
    if (members.empty())
        throw std::invalid_argument("holdfast: a multi_lock needs at least one resource");
    const auto before = [](const lock& a, const lock& b) {
        return a.resource() < b.resource();
    };
    std::sort(members.begin(), members.end(), before);
    const auto same = [](const lock& a, const lock& b) {
        return a.resource() == b.resource();
    };
    if (std::adjacent_find(members.begin(), members.end(), same) != members.end())
        throw std::invalid_argument("holdfast: a resource is named twice in a multi_lock");
    return members;
}

} // namespace

multi_lock::multi_lock(
    locker& owner, std::vector<holdfast::resource> resources, lock_options options)
    : multi_lock(locks_on(owner, std::move(resources), options))
{}

multi_lock::multi_lock(std::vector<lock> members)
{
    members = in_order(std::move(members));
    for (const lock& each : members) { // members that are not needed yet are given back
        io::must_be_off("multi_lock", "min_hold", each.options().min_hold);
        io::must_be_off("multi_lock", "linger", each.options().linger);
    }
    auto strand = asio::make_strand(members.front().get_executor());
    members_ = std::make_shared<io::recipe_locks>(std::move(strand), std::move(members));
    for (const lock& each : members_->locks)
        wait_ = std::max(wait_, each.options().wait);
}

std::string multi_lock::explain(const error_code& why) const
{
    std::string all;
    for (const lock& each : members_->locks)
        all += (all.empty() ? "" : "; ") + each.explain(why);
    return all;
}

asio::any_io_executor multi_lock::get_executor() const noexcept
{
    return members_->locks.front().get_executor();
}

std::span<const lock> multi_lock::members() const noexcept
{
    return members_->locks;
}

void multi_lock::start_acquire(
    member_list members, std::chrono::milliseconds wait, bool once, acquire_handler&& handler)
{
    io::joint_acquire::start(std::move(members), wait, once, std::move(handler));
}

multi_lease::multi_lease(std::vector<lease>&& members, asio::any_io_executor executor)
    : members_(
          std::make_shared<member_leases>(member_leases{std::move(members), std::move(executor)}))
{}

multi_lease& multi_lease::operator=(multi_lease&& other) noexcept
{
    if (this != &other) {
        if (members_)
            members_->all.clear();
        members_ = std::move(other.members_);
    }
    return *this;
}

multi_lease::~multi_lease()
{
    if (members_)
        members_->all.clear();
}

multi_lease::operator bool() const noexcept
{
    return members_ && std::all_of(members_->all.begin(), members_->all.end(),
                           [](const lease& each) { return bool(each); });
}

bool multi_lease::held() const noexcept
{
    return members_ && std::all_of(members_->all.begin(), members_->all.end(),
                           [](const lease& each) { return each.held(); });
}

std::chrono::steady_clock::time_point multi_lease::valid_until() const noexcept
{
    static const std::vector<lease> none;
    return recipes::joint_end(
        members_ ? members_->all : none, [](const lease& each) { return each.valid_until(); });
}

std::optional<std::uint64_t> multi_lease::fence(std::string_view resource) const noexcept
{
    if (members_) {
        for (const lease& each : members_->all) {
            if (each.resource() == resource)
                return each.fence();
        }
    }
    return {};
}

void multi_lease::start_lost(const member_leases& members, error_handler&& handler)
{
    io::joint_loss::start(members.all, members.executor, std::move(handler));
}

void multi_lease::start_release(member_leases& members, release_handler&& handler)
{
    io::joint_release::start(members.all, members.executor, std::move(handler));
}

} // namespace holdfast
