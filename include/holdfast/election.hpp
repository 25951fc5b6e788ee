#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/detail/hold.hpp>
#include <holdfast/error.hpp>
#include <holdfast/inspect.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast {

namespace io {
class election_state;
}

/// How a process takes part in an election. Checked by the constructor of `election`.
struct election_options {
    /// Whether this process is fit to lead. It is asked before `run()` campaigns, every
    /// `check_every` while it waits or leads, and when the office is granted. Empty: always fit. It
    /// runs on the strand of the run, must not block, and must be safe to call from several threads
    /// if there are several runs. An exception counts as unfit. For a check that takes time, let it
    /// return the result of the last one.
    std::function<bool()> healthy{};

    /// How often that is asked. 1 ms to 1 h.
    std::chrono::milliseconds check_every{1000};

    /// Pauses of `run()` after a term of office that has ended early, or a failed campaign: this
    /// long, and a random time more. That is up to `pause_min` at first, and up to twice, four
    /// times … as much after each campaign in a row that fails. 1 ms to 1 h, and not above
    /// `pause_max`.
    std::chrono::milliseconds pause_min{100};
    /// As above: the limit of the random time.
    std::chrono::milliseconds pause_max{10'000};
};

/// Throws `std::invalid_argument`, naming the setting, its value and its range, unless each setting
/// is in range.
HOLDFAST_EXPORT void check(const election_options& options);

/// Leader election: at most one process leads at a time, within the guarantees of a lease.
///
/// The office is a lock. Candidates wait for it in its queue; a leader is the holder of its lease.
/// So it works on every store. With fencing, `lease::fence()` is the number of the term of office:
/// it grows from leader to leader.
///
/// A copy is the same election: `resign()` reaches the runs of all copies.
///
/// Thread safety: as a `const std::string`. Lifetimes: may outlive its locker; its operations then
/// fail with `errc::closed`.
class election {
public:
    /// The office is the lock `office`. Throws `std::invalid_argument` if `check(options)` throws.
    HOLDFAST_EXPORT explicit election(lock office, election_options options = {});

    /// As above, with `lock(owner, name, lock_settings)`.
    election(locker& owner, holdfast::resource name, lock_options lock_settings = {},
        election_options options = {})
        : election(lock(owner, std::move(name), lock_settings), std::move(options))
    {}

    HOLDFAST_EXPORT const lock& office() const noexcept; ///< the lock

    /// Waits for one term of office: `office().acquire(forever)`, whatever the health. The caller
    /// leads until it releases the lease or loses it (`lease::lost()`).
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto campaign(Token&& token = Token()) const
    {
        return office().acquire(forever, std::forward<Token>(token));
    }

    /// Leads whenever it can, until the work is done.
    ///
    /// Campaigns while the process is healthy, without a limit of time, and runs
    /// `body(lease&)`, which returns `asio::awaitable<T>`, while it leads. T is void or default
    /// constructible; the body is copyable and is called once for each term. The body runs on a
    /// strand of the caller's executor. The reference to the lease is valid until the body returns.
    ///
    /// A term ends early when the lease is lost, on `resign()`, and when the process is not healthy
    /// any more. Then the body is cancelled (all types at once; a coroutine accepts only terminal
    /// by default), and when it has ended, the lease is released, and `run()` campaigns again after
    /// a pause. If the body returns then, its value is dropped: only its term has ended.
    ///
    /// The old leader has stopped before the next one begins:
    /// - After a lost lease, the body is cancelled a guard time before the lease ends. A body that
    ///   goes on beyond that time may run beside the next leader. Nothing can stop it but a store
    ///   that compares `lease::fence()`. `run()` does not campaign before the body has ended.
    /// - After `resign()` or a failed health check, the lease is kept, and renewed, until the body
    ///   has ended, however long that takes.
    ///
    /// Completion: `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` for void, once,
    /// after the body has ended and the lease was released. So `co_await` returns the value of the
    /// body that has returned without having been told to stop, or throws:
    /// - the exception of the body, unless it is `operation_aborted` after the body was told to
    ///   stop;
    /// - the error of a campaign that waiting does not help (`condition::misconfigured`,
    ///   `errc::closed`), as `boost::system::system_error`. After other errors it tries again;
    /// - `asio::error::operation_aborted`  this call was cancelled.
    ///
    /// Cancellation: all types. It ends the campaign, or cancels the body and waits for its end.
    template <class Body, class Token = asio::use_awaitable_t<>>
    requires std::is_invocable_v<Body&, lease&>
    [[nodiscard]] auto run(Body body, Token&& token = Token()) const
    {
        using result = detail::body_result<lease, Body>;
        using signature = typename detail::hold_signature<result>::type;
        return asio::async_initiate<Token, signature>(
            []<class Handler>(Handler handler, std::shared_ptr<io::election_state> state,
                Body to_do, const asio::any_io_executor& usual) {
                const asio::any_io_executor where = asio::get_associated_executor(handler, usual);
                if constexpr (std::is_void_v<result>)
                    start_run(std::move(state), where, std::move(to_do),
                        run_handler(std::move(handler), usual));
                else
                    start_run_for<result>(
                        std::move(state), where, std::move(to_do), std::move(handler));
            },
            token, state_, std::move(body), office().get_executor());
    }

    /// Ends the present term of office of each `run()` of this election in this process, so that
    /// another candidate gets the office. The run campaigns again after a pause. Without effect on
    /// a run that does not lead. Never blocks; may be called from any thread, and in the body.
    HOLDFAST_EXPORT void resign() const;

    /// Finds out which process leads (`resource_report::held`, `owner`): as `locker::inspect()` of
    /// the office, with its bounds and errors. Never a reason to act as the leader, or to believe
    /// that there is none: the answer may be outdated when it arrives.
    template <
        asio::completion_token_for<void(error_code, resource_report)> Token = asio::deferred_t>
    [[nodiscard]] auto observe(Token&& token = Token()) const
    {
        return asio::async_initiate<Token, void(error_code, resource_report)>(
            [](auto handler, std::shared_ptr<io::election_state> state,
                const asio::any_io_executor& usual) {
                start_observe(std::move(state), observe_handler(std::move(handler), usual));
            },
            token, state_, office().get_executor());
    }

private:
    using run_body = std::function<asio::awaitable<void>(lease&)>;
    using run_handler = detail::any_handler<void(std::exception_ptr)>;
    using observe_handler = detail::any_handler<void(error_code, resource_report)>;

    // Keeps the body's value until the run has ended.
    template <class T, class Body, class Handler>
    static void start_run_for(std::shared_ptr<io::election_state> state,
        const asio::any_io_executor& where, Body to_do, Handler handler)
    {
        const auto value = std::make_shared<std::optional<T>>();
        const auto slot = asio::get_associated_cancellation_slot(handler);
        auto told = [value, handler = std::move(handler)](std::exception_ptr error) mutable {
            std::move(handler)(std::move(error), *value ? std::move(**value) : T());
        };
        auto bound = asio::bind_cancellation_slot(slot, std::move(told));
        start_run(std::move(state), where, valued_body<T, Body>{std::move(to_do), value},
            run_handler(std::move(bound), where));
    }

    template <class T, class Body>
    struct valued_body {
        Body body;
        std::shared_ptr<std::optional<T>> value;

        asio::awaitable<void> operator()(lease& held)
        {
            auto work = body(held);
            value->emplace(co_await std::move(work));
        }
    };

    HOLDFAST_EXPORT static void start_run(std::shared_ptr<io::election_state> state,
        const asio::any_io_executor& where, run_body body, run_handler&& handler);
    HOLDFAST_EXPORT static void start_observe(
        std::shared_ptr<io::election_state> state, observe_handler&& handler);

    std::shared_ptr<io::election_state> state_;
};

} // namespace holdfast
