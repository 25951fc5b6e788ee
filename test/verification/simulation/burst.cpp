#include "verification/simulation/burst.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t probes = 10; // in each flooded process

bool all_over(const std::vector<std::unique_ptr<sole_user>>& users)
{
    return std::all_of(users.begin(), users.end(), [](const auto& u) { return u->over(); });
}

} // namespace

void sole_user::ask(milliseconds wait, nanoseconds hold)
{
    hold_ = hold;
    asked_ = world_.time.now();
    doing_ = state::waiting;
    process_.acquire(
        *this, {.resource = name_, .terms = world_.settings.terms, .wait = wait, .once = false});
}

void sole_user::finish()
{
    if (doing_ != state::holding)
        return;
    doing_ = state::releasing;
    if (!process_.release(*this, lease_))
        world_.judge.fail(property::operations, name_ + " cannot be released");
}

void sole_user::on_effect(const core::effect& e)
{
    using effect = core::effect_kind;
    switch (e.kind) {
    case effect::acquired:
        doing_ = state::holding;
        granted_ = true;
        lease_ = e.lease;
        waited_ = world_.time.now() - asked_;
        if (hold_ >= 0ns)
            process_.later(hold_, [this] { finish(); });
        return;
    case effect::wait_ended:
        world_.note(name_, "was not granted: " + make_error_code(e.reason).message());
        doing_ = state::done;
        return;
    case effect::released:
        doing_ = state::done;
        return;
    default:
        return; // the referee sees lost leases
    }
}

sole_user& crowd::add(users& to, std::size_t process, const std::string& name)
{
    to.push_back(std::make_unique<sole_user>(world_, *processes_[process],
        name + ":" + std::to_string(process) + ":" + std::to_string(to.size())));
    return *to.back();
}

void crowd::take_what_is_kept()
{
    for (std::size_t p = 0; p < processes_.size(); ++p) {
        for (std::size_t i = 0; i < world_.settings.burst->kept; ++i) {
            sole_user& u = add(keeping_, p, "kept");
            processes_[p]->later(0ns, [&u] { u.ask(1000ms, -1ns); });
        }
    }
}

void crowd::rush()
{
    const burst_plan& b = *world_.settings.burst;
    world_.note("world",
        "the burst begins: " + std::to_string(b.attempts) + " attempts in each of " +
            std::to_string(b.flooded) + " processes within " + in_ms(b.spread) + "; " +
            std::to_string(world_.settings.nodes) + " nodes, of which " +
            (b.frozen_node ? std::to_string(*b.frozen_node) : "none") + " is frozen; work for " +
            in_ms(b.work) + "; a command costs " + in_ms(world_.settings.node_work.command) +
            " on a node and " + in_ms(world_.settings.process_work.command) +
            " in a process; each attempt waits for " + in_ms(b.wait));
    began_ = world_.time.now();
    const auto wait = std::chrono::ceil<milliseconds>(b.wait);
    for (std::size_t p = 0; p < b.flooded; ++p) {
        for (std::size_t i = 0; i < b.attempts; ++i) {
            sole_user& u = add(rushing_, p, "rush");
            const nanoseconds hold = world_.chance.between(0ns, b.hold);
            processes_[p]->later(
                world_.chance.between(0ns, b.spread), [&u, wait, hold] { u.ask(wait, hold); });
        }
    }
}

void crowd::probe()
{
    world_.note("world", "the burst is over");
    for (std::size_t p = 0; p < world_.settings.burst->flooded; ++p) {
        for (std::size_t i = 0; i < probes; ++i) {
            sole_user& u = add(probing_, p, "probe");
            processes_[p]->later(0ns, [&u] { u.ask(500ms, 0ns); });
        }
    }
}

void crowd::give_back_what_is_kept()
{
    for (const auto& u : keeping_)
        u->finish();
}

bool crowd::keeps_everything() const
{
    return std::all_of(keeping_.begin(), keeping_.end(), [](const auto& u) { return u->holds(); });
}

bool crowd::is_over() const
{
    while (first_not_over_ < rushing_.size() && rushing_[first_not_over_]->over())
        ++first_not_over_;
    return first_not_over_ == rushing_.size();
}

bool crowd::gave_back() const
{
    return all_over(keeping_) && all_over(probing_);
}

void crowd::judge_rush()
{
    const burst_plan& b = *world_.settings.burst;
    std::size_t granted = 0;
    nanoseconds longest{0};
    for (const auto& u : rushing_) {
        granted += u->granted() ? 1u : 0u;
        longest = std::max(longest, u->waited());
    }
    const std::string summary = std::to_string(granted) + " of " + std::to_string(rushing_.size()) +
                                " attempts were granted in " + in_ms(world_.time.now() - began_) +
                                ", the longest wait was " + in_ms(longest) + "; the work is " +
                                in_ms(b.work);
    world_.note("world", summary);
    figures_ = {.attempts = rushing_.size(), .granted = granted};
    if (b.wait >= b.bound())
        figures_.times_the_work = static_cast<double>((longest - b.frozen_for).count()) /
                                  static_cast<double>(std::max(b.work, b.spread).count());
    if (granted < b.least_granted(rushing_.size()))
        world_.judge.fail(property::goodput, summary + ", at least " +
                                                 std::to_string(b.least_granted(rushing_.size())) +
                                                 " were due");
    else if (!is_over())
        world_.judge.fail(property::operations, summary + ", but some attempts have not ended");
}

void crowd::judge_probe()
{
    for (const auto& u : probing_) {
        if (!u->granted())
            return world_.judge.fail(
                property::goodput, "after the burst, a new attempt is not granted at once");
    }
}

} // namespace holdfast::simulation
