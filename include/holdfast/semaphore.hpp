#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/detail/hold.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/options.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/tracing.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast {

namespace io {
struct semaphore_state;
}

/// A limited number of permits: at most so many holders at once, in all processes.
///
/// Each permit is a lock of its own, a slot. The slots of the semaphore `name` are the resources
/// `name:0:holdfast:permit`, `name:1:holdfast:permit`, …; operators find them under these names
/// (`locker::list()`). A permit is the `lease` of its slot, with everything that a lease promises
/// and does not promise. Works on every store, and with fencing. A token then orders the holders of
/// one slot only, not those of different slots.
///
/// The number of permits is not stored anywhere: each process takes only slots below its own
/// `permits`. So if processes use different numbers, the largest one limits all of them together,
/// and while a fleet changes to a smaller number, holders of the slots above it stay until they are
/// done.
///
/// A copy is the same semaphore: copies share what the process knows about its own waiters, at no
/// cost. Objects that are created separately work together, but spread their waiters less well.
///
/// Thread safety: as a `const std::string`. Lifetimes: may outlive its locker; its operations then
/// fail with `errc::closed`.
class semaphore {
public:
    static constexpr std::size_t most_permits = 1024; ///< of one semaphore
    static constexpr std::size_t max_name_size = 480; ///< in bytes

    /// `options` are those of each slot: see `lock`. Throws `std::invalid_argument` as `lock` does,
    /// if `permits` is 0 or more than `most_permits`, if the name is longer than `max_name_size`,
    /// or if `lock_options::min_hold` or `lock_options::linger` is not 0.
    HOLDFAST_EXPORT semaphore(
        locker& owner, resource name, std::size_t permits, lock_options options = {});

    HOLDFAST_EXPORT const std::string& name() const noexcept;     ///< as given
    HOLDFAST_EXPORT std::size_t permits() const noexcept;         ///< as given
    HOLDFAST_EXPORT const lock_options& options() const noexcept; ///< as checked

    /// Waits for a permit, until it is granted or `wait` has passed (default: as in `lock_options`;
    /// `forever` allowed; 0 or less tries each slot once).
    ///
    /// Tries each slot once, one after the other, from a random one on. Then waits in the queue of
    /// one slot; after ttl / 8 of two, then of four and of at most eight. In each queue it is
    /// served first come, first served. Every ttl / 8 it tries the other slots again, without
    /// overtaking those that wait for them. So a permit that becomes free anywhere is noticed after
    /// ttl / 8 and one try of each slot, at the latest. There is no order among the waiters of
    /// different slots.
    ///
    /// Completion: `void(error_code, lease)`, never inside this call. The lease is empty if there
    /// is an error, and only then.
    ///
    /// Errors: as `lock::acquire()`; `errc::contended` means that all permits were taken. An error
    /// that concerns some slots only, such as `errc::key_conflict`, ends the call only when it
    /// waits for no other slot.
    ///
    /// Cancellation: all types. A permit that is granted at the same time is given back.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(std::chrono::milliseconds wait, Token&& token = Token()) const
    {
        return initiate(wait, false, token);
    }

    /// As above, with `lock_options::wait`.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const
    {
        return initiate(options().wait, false, token);
    }

    /// Tries each slot once, one after the other. If all are taken, or others wait for them, the
    /// result is an empty lease and no error.
    ///
    /// Completion: `void(error_code, lease)`, never inside this call.
    ///
    /// Errors: as `lock::try_acquire()`. Cancellation: all types, as above.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const
    {
        return initiate(std::chrono::milliseconds(0), true, token);
    }

    /// Runs `body` with a permit: as `lock::hold()`.
    template <class Body, class Token = asio::use_awaitable_t<>>
    requires std::is_invocable_v<Body&, lease&>
    [[nodiscard]] auto hold(Body body, Token&& token = Token()) const
    {
        return detail::initiate_hold<lease>(*this, std::move(body), token);
    }

    /// As `lock::explain()`.
    [[nodiscard]] HOLDFAST_EXPORT std::string explain(const error_code& why) const;

    /// The executor of the locker.
    HOLDFAST_EXPORT asio::any_io_executor get_executor() const noexcept;

private:
    friend struct detail::hold_access;
    using acquire_handler = detail::any_handler<void(error_code, lease)>;

    template <class Token>
    auto initiate(std::chrono::milliseconds wait, bool once, Token& token) const
    {
        return asio::async_initiate<Token, void(error_code, lease)>(
            [](auto handler, std::shared_ptr<io::semaphore_state> state,
                std::chrono::milliseconds limit, bool try_only,
                const asio::any_io_executor& usual) {
                start_acquire(
                    std::move(state), limit, try_only, acquire_handler(std::move(handler), usual));
            },
            token, state_, wait, once, get_executor());
    }
    // For hold(). The slots have spans of their own.
    template <class Token>
    auto initiate_hold(const std::shared_ptr<trace_span>&, Token& token) const
    {
        return initiate(options().wait, false, token);
    }
    std::shared_ptr<trace_span> begin_span() const { return nullptr; }

    HOLDFAST_EXPORT static void start_acquire(std::shared_ptr<io::semaphore_state> state,
        std::chrono::milliseconds wait, bool once, acquire_handler&& handler);

    std::shared_ptr<io::semaphore_state> state_;
};

} // namespace holdfast
