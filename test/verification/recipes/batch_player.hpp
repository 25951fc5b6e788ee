#pragma once

#include "verification/recipes/batch_referee.hpp"

#include <functional>
#include <map>
#include <utility>

namespace holdfast::recipe_simulation {

// Performs in a process what a batch line decides, with a lock of the modelled service.
class batch_player {
public:
    struct batch {
        std::vector<order_pointer> orders;
        lease_pointer held;
        bool over = false, stopped = false;
    };
    using batch_pointer = std::shared_ptr<batch>;
    struct callbacks {
        // The work of a batch, which ends with finish().
        std::function<void(const batch_pointer&)> begin, stop;
        std::function<void(const order_pointer&)> answered;
        std::function<void()> closed;
    };

    batch_player(lock_service& locks, process& p, const recipes::batch_params& limits,
        duration wait, batch_referee& judge, callbacks users)
        : locks_(locks),
          process_(p),
          wait_(wait),
          judge_(judge),
          users_(std::move(users)),
          line_(limits)
    {}

    void submit(const order_pointer& o)
    {
        const errc refusal = line_.refusal();
        judge_.submitted(o, refusal);
        if (refusal != errc{}) {
            tell(o, make_error_code(refusal));
            return;
        }
        orders_[line_.add(process_.now())] = o;
        if (line_.is_idle())
            step_soon();
    }

    // The body has ended.
    void finish(const batch_pointer& b, detail::batch_ending how)
    {
        if (!std::exchange(b->over, true))
            end(*b, how);
    }

    // The caller has gone if its call ends by this.
    bool cancel(const order_pointer& o, bool detach)
    {
        core::slot_id id = 0;
        for (const auto& [number, each] : orders_) {
            if (each == o)
                id = number;
        }
        const bool went = line_.cancel(id, detach);
        judge_.cancelled(o, detach, went);
        if (went)
            orders_.erase(id);
        if (went && line_.waiting() == 0)
            step_soon();
        return went;
    }

    void close()
    {
        judge_.closes();
        closing_ = true;
        const auto told = take(line_.close());
        step_soon();
        tell_all(told, make_error_code(errc::closed));
    }

private:
    using action = recipes::batch_line::action;

    std::vector<order_pointer> take(const std::vector<core::slot_id>& ids)
    {
        std::vector<order_pointer> taken;
        for (const auto id : ids) {
            auto node = orders_.extract(id);
            taken.push_back(node ? node.mapped() : nullptr);
        }
        return taken;
    }

    void tell(const order_pointer& o, error_code why)
    {
        judge_.answer(o, why);
        users_.answered(o);
    }
    void tell_all(const std::vector<order_pointer>& all, error_code why)
    {
        for (const order_pointer& each : all) {
            if (each)
                tell(each, why);
        }
    }

    void step_soon()
    {
        process_.deliver_at(process_.now(), [this] { step(); });
    }

    void step()
    {
        const auto order = line_.next(process_.now());
        switch (order.what) {
        case action::acquire:
            acquire();
            break;
        case action::stop_asking:
            stop_asking();
            break;
        case action::wake:
            process_.deliver_at(order.at, [this] { step(); });
            break;
        case action::finish:
            if (std::exchange(closing_, false)) {
                judge_.has_closed(leases_ != 0);
                users_.closed();
            }
            break;
        case action::none:
            break;
        }
    }

    void acquire()
    {
        judge_.asks();
        const time_point until = wait_ < 1h ? process_.now() + wait_ : core::never;
        asked_ = locks_.acquire(process_, "hot", false, until,
            [this](error_code why, const lease_pointer& held) { answered(why, held); });
    }

    void stop_asking()
    {
        if (asked_ == 0)
            return;
        locks_.cancel(std::exchange(asked_, 0));
        process_.deliver_at(
            process_.now(), [this] { answered(make_error_code(errc::closed), nullptr); });
    }

    void answered(error_code why, const lease_pointer& held)
    {
        asked_ = 0;
        if (held) {
            ++leases_;
            line_.granted();
            process_.deliver_at(process_.now(), [this, held] { serve(held); });
            return;
        }
        judge_.asked_in_vain();
        tell_all(take(line_.refused()), why);
        step();
    }

    void serve(const lease_pointer& held)
    {
        const auto b = std::make_shared<batch>();
        for (const auto id : line_.begin_batch()) {
            const auto found = orders_.find(id);
            b->orders.push_back(found != orders_.end() ? found->second : nullptr);
        }
        judge_.begins(b->orders);
        std::erase(b->orders, nullptr);
        b->held = held;
        if (b->orders.empty()) {
            finish(b, {});
            return;
        }
        held->when_lost([this, b] {
            b->stopped = true;
            users_.stop(b);
        });
        users_.begin(b);
    }

    void end(const batch& b, detail::batch_ending how)
    {
        using kind = detail::batch_ending::kind;
        how.stopped = b.stopped;
        how.lease_over = !b.held->held();
        const bool lost = how.body == kind::returned  ? how.lease_over
                          : how.body == kind::aborted ? how.stopped || how.lease_over
                                                      : false;
        const bool good = how.body == kind::returned && how.replies == b.orders.size();
        const auto told = line_.end_batch(how);
        tell_all(take(told.callers), told.outcome);
        judge_.ends(b.orders, lost, good);
        process_.deliver_at(process_.now(), [this, held = b.held] {
            step(); // requests of those that were told
            locks_.release(held);
            --leases_;
            line_.turn_ended();
            step();
        });
    }

    lock_service& locks_;
    process& process_;
    const duration wait_;
    batch_referee& judge_;
    const callbacks users_;
    recipes::batch_line line_;
    std::map<core::slot_id, order_pointer> orders_;
    lock_service::request_id asked_ = 0;
    std::size_t leases_ = 0;
    bool closing_ = false;
};

} // namespace holdfast::recipe_simulation
