#include "io/campaigner.hpp"

#include "io/clock.hpp"
#include "io/recipe_locks.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <utility>
#include <variant>
#include <vector>

namespace holdfast::io {

using action = recipes::candidacy::action;

namespace {

std::exception_ptr aborted()
{
    return std::make_exception_ptr(
        boost::system::system_error(asio::error::make_error_code(asio::error::operation_aborted)));
}

detail::handler_executor at_work(const detail::handler_executor& chosen)
{
    constexpr auto tracked = asio::execution::outstanding_work.tracked;
    if (const auto* const usual = std::get_if<asio::any_io_executor>(&chosen))
        return asio::prefer(*usual, tracked);
    return asio::prefer(std::get<asio::any_completion_executor>(chosen), tracked);
}

} // namespace

void election_state::add(const std::shared_ptr<campaigner>& run)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(runs_, [](const auto& each) { return each.expired(); });
    runs_.push_back(run);
}

void election_state::resign()
{
    std::vector<std::shared_ptr<campaigner>> all; // the last owner of one destroys users' objects
    {
        const std::lock_guard lock(mutex_);
        for (const auto& each : runs_)
            all.push_back(each.lock());
    }
    for (const auto& run : all) {
        if (run)
            asio::post(run->strand(), [run] { run->resign(); });
    }
}

struct campaigner::end_of_work {
    using cancellation_slot_type = asio::cancellation_slot;

    cancellation_slot_type get_cancellation_slot() const noexcept { return self->stop_.slot(); }
    void operator()(std::exception_ptr error) const { self->work_ended(std::move(error)); }

    std::shared_ptr<campaigner> self;
};

campaigner::campaigner(std::shared_ptr<election_state> state, const asio::any_io_executor& where,
    body work_to_do, handler&& told, std::uint64_t seed)
    : state_(std::move(state)),
      strand_(asio::make_strand(where)),
      body_(std::move(work_to_do)),
      executor_(at_work(told.executor)),
      told_(std::move(told.function)),
      core_(
          state_->options.check_every, state_->options.pause_min, state_->options.pause_max, seed),
      timer_(strand_)
{}

void campaigner::begin()
{
    perform(core_.begin(healthy(), now()));
}

void campaigner::cancel()
{
    if (core_.now_in() == recipes::candidacy::state::over)
        return;
    error_ = aborted();
    perform(core_.cancel());
}

void campaigner::resign()
{
    perform(core_.resign());
}

bool campaigner::healthy() const noexcept
{
    try {
        return !state_->options.healthy || state_->options.healthy();
    } catch (...) {
        return false;
    }
}

void campaigner::perform(action what)
{
    switch (what) {
    case action::none:
        break;
    case action::campaign:
        campaign();
        break;
    case action::stop_campaign:
        stop_campaign();
        return;
    case action::start_work:
        start_work();
        break;
    case action::stop_work:
        if (working_)
            stop_.emit(asio::cancellation_type::all);
        break;
    case action::release:
        release(false);
        break;
    case action::finish:
        set_timer(); // none: the handler may throw
        return release(true);
    }
    set_timer();
}

void campaigner::campaign()
{
    asking_ = std::make_shared<asking>();
    auto answer = [self = shared_from_this(), mine = asking_](error_code why, lease given) {
        if (mine->dropped)
            return; // what is given is released by its destructor
        self->asking_.reset();
        if (!why) {
            self->held_ = std::move(given);
            self->perform(self->core_.granted(self->healthy(), now()));
            return;
        }
        const bool lasting = why == condition::misconfigured || why == errc::closed;
        if (lasting)
            self->error_ = detail::explained(self->state_->office, why);
        self->perform(self->core_.refused(lasting, now()));
    };
    state_->office.acquire(forever, asio::bind_cancellation_slot(asking_->stop.slot(),
                                        asio::bind_executor(strand_, std::move(answer))));
}

void campaigner::stop_campaign()
{
    if (const auto gone = std::exchange(asking_, nullptr)) {
        gone->dropped = true;
        gone->stop.emit(asio::cancellation_type::terminal);
    }
    perform(core_.refused(false, now()));
}

void campaigner::start_work()
{
    auto lost = [self = shared_from_this(), term = ++term_](error_code why) {
        if (why == errc::lease_lost && term == self->term_)
            self->perform(self->core_.lost());
    };
    held_.lost(asio::bind_executor(strand_, std::move(lost)));
    working_ = true;
    asio::co_spawn(strand_, work(shared_from_this()), end_of_work{shared_from_this()});
}

asio::awaitable<void> campaigner::work(std::shared_ptr<campaigner> self)
{
    std::exception_ptr error;
    try {
        auto running = self->body_(self->held_);
        co_await std::move(running);
    } catch (...) {
        error = std::current_exception();
    }
    // The body may have left the strand.
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::dispatch(self->strand_, asio::use_awaitable);
    self->working_ = false; // nothing is left to cancel
    if (error)
        std::rethrow_exception(error);
}

void campaigner::work_ended(std::exception_ptr error)
{
    using end = recipes::candidacy::work_end;
    const bool told = core_.now_in() == recipes::candidacy::state::stopping;
    end how = end::returned;
    if (error)
        how = detail::is_abort(error) ? end::stopped : end::failed;
    if (error && !(told && how == end::stopped))
        error_ = std::move(error);
    perform(core_.work_ended(how, now()));
}

// The handler is called when this release, and that of the term before, is confirmed or is known
// not to be.
void campaigner::release(bool finish)
{
    ++term_;
    finishes_ = finish;
    if (held_) {
        ++releases_;
        held_.release(
            asio::bind_executor(strand_, [self = shared_from_this()](error_code, release_outcome) {
                if (--self->releases_ == 0 && self->finishes_)
                    self->complete();
            }));
    }
    held_ = lease();
    if (finishes_ && releases_ == 0)
        complete();
}

void campaigner::set_timer()
{
    const core::time_point when = core_.wake_at();
    ++timers_;
    timer_.cancel();
    if (when == core::never || core_.now_in() == recipes::candidacy::state::over)
        return;
    timer_.expires_at(to_steady(when));
    timer_.async_wait([self = shared_from_this(), mine = timers_](error_code) {
        if (mine == self->timers_)
            self->wake();
    });
}

// A candidate that is not fit does not campaign, and so does not learn that its locker is closed.
void campaigner::wake()
{
    using state = recipes::candidacy::state;
    const bool idle = core_.now_in() == state::unhealthy || core_.now_in() == state::pausing;
    if (idle && !recipe_access::grants(state_->office)) {
        error_ = detail::explained(state_->office, make_error_code(errc::closed));
        return perform(core_.refused(true, now()));
    }
    perform(core_.woken(healthy(), now()));
}

void campaigner::complete()
{
    const auto executor = std::move(executor_);
    auto completion = [told = std::move(told_), error = std::move(error_)]() mutable {
        if (auto slot = asio::get_associated_cancellation_slot(told); slot.is_connected())
            slot.clear();
        std::move(told)(std::move(error));
    };
    if (const auto* const usual = std::get_if<asio::any_io_executor>(&executor))
        usual->execute(std::move(completion));
    else
        asio::dispatch(std::get<asio::any_completion_executor>(executor), std::move(completion));
}

} // namespace holdfast::io
