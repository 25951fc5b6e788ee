#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/error.hpp>
#include <holdfast/release_outcome.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast {

namespace io {
class engine;
class performer;
} // namespace io

class resource;

/// Proof that a resource was granted to this holder for a limited time.
///
/// A lease is not a mutex. It keeps other holders out until `valid_until()`, while the clocks of
/// the nodes run at roughly the right rate and nodes do not forget. A process that is paused past
/// that instant can act after the resource was granted to another holder; `fence()` lets the
/// protected store refuse such late work.
///
/// The locker renews the lease while the object lives (unless the lock options say otherwise). When
/// renewal fails, the holder is told a guard time before the end (`lost()`). From then on the lease
/// is never good again, even if nodes answer later. The destructor stops the renewal and hands a
/// best-effort release to the locker; it never blocks and never throws.
///
/// Thread safety: distinct objects, safe; one object, unsafe, except for `held()`, `valid_until()`,
/// `fence()` and `resource()`, which many threads may call. Lifetimes: outstanding operations do
/// not need the `lease` object. Operations on an empty lease complete with `errc::not_held`, on the
/// system executor if their handler has no associated executor.
class [[nodiscard]] lease {
public:
    /// An empty lease.
    lease() noexcept = default;
    /// Leaves `other` empty.
    HOLDFAST_EXPORT lease(lease&& other) noexcept;
    /// Leaves `other` empty. What this object held is released as by the destructor.
    HOLDFAST_EXPORT lease& operator=(lease&& other) noexcept;
    /// Never blocks, never throws.
    HOLDFAST_EXPORT ~lease();

    /// Whether this object was granted a resource and has not been released since. Does not
    /// consider the clock: see `held()`.
    HOLDFAST_EXPORT explicit operator bool() const noexcept;

    /// Whether the lease is valid at this moment by the clock, which includes suspension of the
    /// machine. True in the guard time too. The result may be outdated at the next statement.
    [[nodiscard]] HOLDFAST_EXPORT bool held() const noexcept;

    /// The time at which the lease ends if nothing renews it. Moves on with each renewal. In the
    /// past, or `time_point::min()`, when the lease has ended.
    [[nodiscard]] HOLDFAST_EXPORT std::chrono::steady_clock::time_point valid_until()
        const noexcept;

    /// The fencing token. It is larger than the token of every lease on this resource that the
    /// nodes had granted before they were asked for this lease. Where a lease is transferred within
    /// the process, or given to another process that waits, the nodes are not asked again; the
    /// token is larger than that of the previous holder. If nodes have ended such a lease early
    /// (their clocks jumped, or they lost data), another holder may have a larger token already;
    /// the protected store then refuses this one. Empty where the backend has no tokens,
    /// such as Redis nodes without `fencing::on`. For the check in the store, see `guarded_write`.
    std::optional<std::uint64_t> fence() const noexcept { return fence_; }

    /// The name of the resource; empty for an empty lease.
    HOLDFAST_EXPORT const std::string& resource() const noexcept;

    /// Waits until the work under this lease must stop.
    ///
    /// Completion: `void(error_code)`, always with an error. Any number of calls may wait at once.
    ///
    /// Errors:
    /// - `errc::lease_lost`  the guard time before the end has begun and the lease could not be
    ///   kept, or nodes reported that this holder does not have it, or the locker is being closed,
    ///   or the deadline of `locker::drain()` has passed.
    /// - `errc::not_held`  the lease was released, or is empty.
    /// - `asio::error::operation_aborted`  this call was cancelled.
    ///
    /// Cancellation: all types.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto lost(Token&& token = Token()) const
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<io::engine> engine, std::uint64_t id) {
                if (!engine) // an empty lease
                    return detail::complete_later(
                        std::move(handler), make_error_code(errc::not_held));
                const auto& usual = detail::usual_executor(*engine);
                start_lost(std::move(engine), id, error_handler(std::move(handler), usual));
            },
            token, engine_, id_);
    }

    /// Renews the lease at once, for a whole ttl from now. Overlapping calls share one renewal.
    ///
    /// Completion: `void(error_code)`; without an error, a majority has confirmed.
    ///
    /// Errors:
    /// - `errc::unreachable`  no majority answered in time; the lease continues unchanged, to
    ///   `valid_until()`.
    /// - `errc::lease_lost`  it is too late to renew.
    /// - `errc::not_held`  the lease was released, or is empty.
    /// - `asio::error::operation_aborted`  this call was cancelled.
    ///
    /// Cancellation: terminal and partial; only the waiting ends. Not total: the request may have
    /// been sent, and may take effect.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto extend(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<io::engine> engine, std::uint64_t id) {
                if (!engine) // an empty lease
                    return detail::complete_later(
                        std::move(handler), make_error_code(errc::not_held));
                const auto& usual = detail::usual_executor(*engine);
                start_extend(std::move(engine), id, error_handler(std::move(handler), usual));
            },
            token, engine_, id_);
    }

    /// Releases the resource.
    ///
    /// From this call on the lease is not held and not renewed. Every node is asked to delete the
    /// key if it still has the owner token of this lease. The operation completes when a majority
    /// has done so; the rest continues in the background. A release never touches a key with
    /// another owner token. Where the lease is transferred to another waiter of the locker, or the
    /// key stays for `lock_options::linger` or `min_hold`, no node is asked, and the operation
    /// completes at once.
    ///
    /// Completion: `void(error_code, release_outcome)`. For a lease that was lost before, the
    /// outcome is `release_outcome::expired`, without an error.
    ///
    /// Errors:
    /// - `errc::not_held`  released before, or empty; the outcome is `expired`.
    /// - `asio::error::operation_aborted`  this call was cancelled; the outcome is `unconfirmed`.
    ///
    /// Cancellation: terminal and partial; only the waiting ends, the release continues. Not total:
    /// the release begins with the call.
    template <
        asio::completion_token_for<void(error_code, release_outcome)> Token = asio::deferred_t>
    auto release(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code, release_outcome)>(
            [](auto handler, std::shared_ptr<io::engine> engine, std::uint64_t id) {
                if (!engine) // an empty lease
                    return detail::complete_later(std::move(handler),
                        make_error_code(errc::not_held), release_outcome::expired);
                const auto& usual = detail::usual_executor(*engine);
                start_release(std::move(engine), id, release_handler(std::move(handler), usual));
            },
            token, engine_, id_);
    }

private:
    friend class io::engine;
    friend class io::performer;
    using error_handler = detail::any_handler<void(error_code)>;
    using release_handler = detail::any_handler<void(error_code, release_outcome)>;

    lease(std::shared_ptr<io::engine> engine, std::uint64_t id,
        std::shared_ptr<const holdfast::resource> what,
        std::optional<std::uint64_t> fence) noexcept;

    void drop() noexcept;
    HOLDFAST_EXPORT static void start_lost(
        std::shared_ptr<io::engine>, std::uint64_t, error_handler&&);
    HOLDFAST_EXPORT static void start_extend(
        std::shared_ptr<io::engine>, std::uint64_t, error_handler&&);
    HOLDFAST_EXPORT static void start_release(
        std::shared_ptr<io::engine>, std::uint64_t, release_handler&&);

    std::shared_ptr<io::engine> engine_;
    std::shared_ptr<const holdfast::resource> what_;
    std::optional<std::uint64_t> fence_;
    std::uint64_t id_ = 0;
};

} // namespace holdfast
