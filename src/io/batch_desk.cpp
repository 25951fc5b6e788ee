#include <holdfast/batch.hpp>

#include "core/slot_map.hpp"
#include "io/clock.hpp"
#include "io/registry.hpp"
#include "recipes/batch_line.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast {

namespace io {
namespace {

using detail::batch_request;
using request_pointer = std::shared_ptr<batch_request>;
using request_pointers = std::vector<request_pointer>;

// Those that wait for the end of a batcher, by ids that are safe to keep.
class closers {
public:
    core::slot_id add(request_pointer caller)
    {
        const core::slot_id id = all_.take();
        all_[id] = std::move(caller);
        return id;
    }

    request_pointer take(core::slot_id id)
    {
        request_pointer* const found = all_.find(id);
        if (found == nullptr)
            return nullptr;
        request_pointer taken = std::move(*found);
        all_.give_back(id);
        return taken;
    }

    request_pointers take_all()
    {
        request_pointers taken;
        for (std::uint32_t i = 0; i < all_.capacity(); ++i) {
            if (const core::slot_id id = all_.id_at(i); id != 0)
                taken.push_back(take(id));
        }
        return taken;
    }

private:
    core::slot_map<request_pointer> all_;
};

void fail_all(request_pointers told, error_code why)
{
    for (const request_pointer& each : told)
        each->fail(why);
}

recipes::batch_params params_of(const batch_options& options)
{
    check(options);
    return {options.max_batch, options.max_queued, options.gather};
}

// Performs what the line decides. The requests are under a mutex, because they come from many
// threads. The lock is asked for on a strand, where batches are served too.
//
// The context tells it when it is destroyed: the handler of a coroutine that waits for a reply may
// own the batcher, and with it this object.
class desk final : public detail::batch_desk,
                   public registrant,
                   public std::enable_shared_from_this<desk> {
public:
    static std::shared_ptr<desk> make(const lock& under, const batch_options& options,
        std::unique_ptr<detail::batch_server> server)
    {
        auto made = std::make_shared<desk>(under, options, std::move(server));
        registry::of(made->usual_).add(*made);
        return made;
    }

    desk(const lock& under, const batch_options& options,
        std::unique_ptr<detail::batch_server> server)
        : line_(params_of(options)),
          lock_(under),
          usual_(lock_.get_executor()),
          strand_(asio::make_strand(usual_)),
          timer_(strand_),
          server_(std::move(server))
    {}

    desk(const desk&) = delete;
    desk& operator=(const desk&) = delete;

    ~desk() override
    {
        if (!abandoned_)
            registry::of(usual_).remove(*this);
    }

    void submit(request_pointer request) override
    {
        std::unique_lock guard(mutex_);
        if (abandoned_)
            return;
        if (const errc refusal = line_.refusal(); refusal != errc{}) {
            guard.unlock();
            return request->fail(refusal);
        }
        const auto id = line_.add(now());
        attach(request->slot(), id, &desk::cancel);
        if (core::slot_index(id) >= requests_.size())
            requests_.resize(core::slot_index(id) + std::size_t(1));
        at(id) = std::move(request);
        if (line_.is_idle())
            step_soon();
    }

    void close(request_pointer waiter) override
    {
        {
            const std::lock_guard guard(mutex_);
            if (abandoned_)
                return;
            auto slot = waiter->slot();
            attach(slot, closing_.add(std::move(waiter)), &desk::cancel_closing);
        }
        close();
    }

    void close() noexcept override
    {
        std::unique_lock guard(mutex_);
        if (abandoned_)
            return;
        auto told = take(line_.close());
        step_soon();
        guard.unlock();
        fail_all(std::move(told), errc::closed);
    }

    const asio::any_io_executor& usual_executor() const noexcept override { return usual_; }
    const asio::any_io_executor& strand() const noexcept override { return strand_; }

    request_pointers begin_batch() override
    {
        const std::lock_guard guard(mutex_);
        request_pointers batch;
        for (const auto id : line_.begin_batch())
            batch.push_back(at(id));
        return batch;
    }

    callers end_batch(const detail::batch_ending& how) override
    {
        const std::lock_guard guard(mutex_);
        const auto end = line_.end_batch(how);
        return {end.outcome, take(end.callers)};
    }

    void ask_again() override { step(); }

    void end_turn() override
    {
        {
            const std::lock_guard guard(mutex_);
            line_.turn_ended();
        }
        step();
    }

private:
    using action = recipes::batch_line::action;

    // registrant
    std::shared_ptr<registrant> owned_registrant() noexcept override
    {
        return weak_from_this().lock();
    }
    void abandon() noexcept override
    {
        request_pointers orphans, closing;
        {
            const std::lock_guard guard(mutex_);
            abandoned_ = true;
            orphans.swap(requests_);
            closing = closing_.take_all();
        }
        // Handlers are destroyed here, and with them coroutines and their batchers.
    }
    void leave_to_parent() noexcept override {} // its operations with the lock end then

    request_pointer& at(core::slot_id id) { return requests_[core::slot_index(id)]; }

    request_pointers take(const std::vector<core::slot_id>& ids)
    {
        request_pointers taken;
        taken.reserve(ids.size());
        for (const auto id : ids)
            taken.push_back(id != 0 ? std::move(at(id)) : nullptr);
        return taken;
    }

    void attach(asio::cancellation_slot slot, core::slot_id id,
        void (desk::*act)(core::slot_id, asio::cancellation_type))
    {
        if (!slot.is_connected())
            return;
        slot.assign([weak = weak_from_this(), id, act](asio::cancellation_type type) {
            if (const auto self = weak.lock())
                ((*self).*act)(id, type);
        });
    }

    void cancel(core::slot_id id, asio::cancellation_type type)
    {
        const bool terminal =
            (type & asio::cancellation_type::terminal) != asio::cancellation_type::none;
        std::unique_lock guard(mutex_);
        if (abandoned_ || !line_.cancel(id, terminal))
            return;
        const request_pointer cancelled = std::move(at(id));
        if (line_.waiting() == 0)
            step_soon();
        guard.unlock();
        cancelled->fail(asio::error::operation_aborted);
    }

    void cancel_closing(core::slot_id id, asio::cancellation_type)
    {
        std::unique_lock guard(mutex_);
        const request_pointer cancelled = closing_.take(id);
        guard.unlock();
        if (cancelled != nullptr)
            cancelled->fail(asio::error::operation_aborted);
    }

    void step_soon()
    {
        if (!std::exchange(steps_, true))
            asio::post(strand_, [self = shared_from_this()] { self->step(); });
    }

    // On the strand.
    void step()
    {
        std::unique_lock guard(mutex_);
        steps_ = false;
        const auto order = line_.next(now());
        auto closed = order.what == action::finish ? closing_.take_all() : request_pointers();
        guard.unlock();
        switch (order.what) {
        case action::acquire:
            return ask();
        case action::stop_asking:
            return stop_asking_.emit(asio::cancellation_type::terminal);
        case action::wake:
            return arm(order.at);
        case action::none:
        case action::finish:
            timer_.cancel();
            fail_all(std::move(closed), {});
        }
    }

    void arm(core::time_point at)
    {
        timer_.expires_at(to_steady(at));
        timer_.async_wait([self = shared_from_this()](error_code ec) {
            if (!ec)
                self->step();
        });
    }

    void ask()
    {
        auto answer = [self = shared_from_this()](error_code ec, lease held) {
            self->answered(ec, std::move(held));
        };
        lock_.acquire(asio::bind_cancellation_slot(
            stop_asking_.slot(), asio::bind_executor(strand_, std::move(answer))));
    }

    void answered(error_code ec, lease held)
    {
        std::unique_lock guard(mutex_);
        if (!ec) {
            line_.granted();
            guard.unlock();
            return server_->serve(shared_from_this(), std::move(held));
        }
        auto told = take(line_.refused());
        guard.unlock();
        fail_all(std::move(told), ec);
        step();
    }

    std::mutex mutex_;
    recipes::batch_line line_;
    std::vector<request_pointer> requests_; // by the index of their id in the line
    closers closing_;
    bool steps_ = false;     // step() follows
    bool abandoned_ = false; // its context is being destroyed

    const lock lock_;
    const asio::any_io_executor usual_, strand_;
    asio::steady_timer timer_;
    asio::cancellation_signal stop_asking_;
    const std::unique_ptr<detail::batch_server> server_;
};

} // namespace
} // namespace io

void check(const batch_options& o)
{
    constexpr std::chrono::milliseconds longest_gather = std::chrono::minutes(1);
    if (o.max_batch == 0)
        throw std::invalid_argument("holdfast: max_batch is 0; it must be at least 1");
    if (o.max_queued == 0)
        throw std::invalid_argument("holdfast: max_queued is 0; it must be at least 1");
    if (o.gather < o.gather.zero() || o.gather > longest_gather)
        throw std::invalid_argument("holdfast: gather is " + std::to_string(o.gather.count()) +
                                    " ms; it must be from 0 ms to 60000 ms");
}

std::shared_ptr<detail::batch_desk> detail::make_batch_desk(
    const lock& under, const batch_options& options, std::unique_ptr<batch_server> server)
{
    return io::desk::make(under, options, std::move(server));
}

} // namespace holdfast
