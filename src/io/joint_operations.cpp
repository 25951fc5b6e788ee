#include "io/joint_operations.hpp"

#include "recipes/joint_entry.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::io {

namespace {

// Runs `act` on the strand of `op` when the user cancels with one of these types. The slot may
// outlive the context: it must not own the strand.
template <class Operation, class Handler, class Act>
void on_cancellation(const std::shared_ptr<Operation>& op, const Handler& handler,
    asio::cancellation_type types, Act act)
{
    if (auto slot = handler.slot(); slot.is_connected())
        slot.assign([weak = std::weak_ptr(op), types, act](asio::cancellation_type type) {
            if ((type & types) == asio::cancellation_type::none)
                return;
            if (const auto self = weak.lock())
                asio::dispatch(self->strand(), [self, act] { act(*self); });
        });
}

} // namespace

void joint_acquire::start(
    member_list members, std::chrono::milliseconds wait, bool once, acquire_handler&& handler)
{
    const auto op = std::make_shared<joint_acquire>(
        std::move(members), patience_of(wait, once), std::move(handler));
    on_cancellation(op, op->told_, asio::cancellation_type::all,
        [](joint_acquire& self) { self.cancel(asio::error::operation_aborted); });
    asio::post(op->strand(), [op] { op->begin(); });
}

joint_acquire::joint_acquire(
    member_list members, recipes::patience limit, acquire_handler&& handler)
    : errand_performer(
          members, std::make_unique<recipes::joint_entry>(members->locks.size(), limit)),
      members_(std::move(members)),
      told_(std::move(handler))
{}

void joint_acquire::done(error_code why, std::size_t, lease result)
{
    if (!result) {
        release_rest();
        told_.complete(why, multi_lease());
        return;
    }
    std::vector<lease> all;
    all.reserve(members_->locks.size());
    all.push_back(std::move(result));
    while (all.size() < members_->locks.size())
        all.push_back(take(all.size()));
    told_.complete(why, multi_lease(std::move(all), members_->locks.front().get_executor()));
}

void joint_loss::start(const std::vector<lease>& members, const asio::any_io_executor& executor,
    error_handler&& handler)
{
    const auto op = std::make_shared<joint_loss>(members.size(), executor, std::move(handler));
    on_cancellation(op, op->handler_, asio::cancellation_type::all,
        [](joint_loss& self) { self.end(asio::error::operation_aborted); });
    for (std::size_t i = 0; i < members.size(); ++i) {
        auto lost = [op](error_code why) {
            op->end(why);
        };
        members[i].lost(asio::bind_cancellation_slot(
            op->stops_[i].slot(), asio::bind_executor(op->strand_, std::move(lost))));
    }
    // Not earlier: another thread may run the strand while the members are started.
    asio::post(op->strand_, [op] {
        op->started_ = true;
        op->stop_members();
    });
}

joint_loss::joint_loss(
    std::size_t members, const asio::any_io_executor& executor, error_handler&& handler)
    : strand_(asio::make_strand(executor)),
      handler_(std::move(handler)),
      stops_(members)
{}

void joint_loss::end(error_code why)
{
    if (std::exchange(over_, true))
        return;
    handler_.complete(why);
    stop_members();
}

void joint_loss::stop_members()
{
    if (!started_ || !over_)
        return;
    for (auto& each : stops_)
        each.emit(asio::cancellation_type::terminal);
}

void joint_release::start(
    std::vector<lease>& members, const asio::any_io_executor& executor, release_handler&& handler)
{
    const auto op = std::make_shared<joint_release>(members.size(), executor, std::move(handler));
    on_cancellation(op, op->handler_,
        asio::cancellation_type::terminal | asio::cancellation_type::partial,
        [](joint_release& self) {
            self.end(asio::error::operation_aborted, release_outcome::unconfirmed);
        });
    for (lease& each : members) {
        auto released = [op](error_code ec, release_outcome outcome) {
            op->released(ec, outcome);
        };
        each.release(asio::bind_executor(op->strand_, std::move(released)));
    }
}

joint_release::joint_release(
    std::size_t members, const asio::any_io_executor& executor, release_handler&& handler)
    : strand_(asio::make_strand(executor)),
      handler_(std::move(handler)),
      unanswered_(members)
{}

// The outcomes are listed from the best to the worst.
void joint_release::released(error_code ec, release_outcome outcome)
{
    error_ = error_ ? error_ : ec;
    worst_ = std::max(worst_, outcome);
    if (--unanswered_ == 0)
        end(error_, worst_);
}

void joint_release::end(error_code why, release_outcome outcome)
{
    if (!std::exchange(over_, true))
        handler_.complete(why, outcome);
}

} // namespace holdfast::io
