#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/detail/hold.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/options.hpp>
#include <holdfast/release_outcome.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/tracing.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast {

namespace io {
class joint_acquire;
struct recipe_locks;
} // namespace io

/// The leases on all resources of a `multi_lock`, held together.
///
/// Each of them is a `lease`, with all that is said there: renewed while this object lives, and no
/// mutex. The destructor releases them in the background; it never blocks and never throws.
///
/// Thread safety: as `lease`. Operations on an empty object complete with `errc::not_held`, on the
/// system executor if their handler has no associated executor.
class [[nodiscard]] multi_lease {
public:
    /// An empty object.
    multi_lease() noexcept = default;
    multi_lease(multi_lease&& other) noexcept = default; ///< Leaves `other` empty.
    /// Leaves `other` empty. What this object held is released as by the destructor.
    HOLDFAST_EXPORT multi_lease& operator=(multi_lease&& other) noexcept;
    /// Never blocks, never throws.
    HOLDFAST_EXPORT ~multi_lease();

    /// Whether every member was granted and has not been released since. Does not consider the
    /// clock: see `held()`. False if empty.
    HOLDFAST_EXPORT explicit operator bool() const noexcept;

    /// Whether every member is held at this moment. False if empty.
    [[nodiscard]] HOLDFAST_EXPORT bool held() const noexcept;

    /// The earliest end of a member; `time_point::min()` if one has ended, or if empty.
    [[nodiscard]] HOLDFAST_EXPORT std::chrono::steady_clock::time_point valid_until()
        const noexcept;

    /// The fencing token of the member with this name: see `lease::fence()`. Empty also if there is
    /// no such member. Each protected store compares the token of its own resource.
    [[nodiscard]] HOLDFAST_EXPORT std::optional<std::uint64_t> fence(
        std::string_view resource) const noexcept;

    /// The members, ordered by the names of their resources: for `lease::extend()`, or to release
    /// one of them early. Then this object is not held any more.
    [[nodiscard]] std::span<lease> members() noexcept
    {
        return members_ ? std::span<lease>(members_->all) : std::span<lease>();
    }

    /// Waits until the work under these leases must stop, because one of them is lost or released.
    ///
    /// Completion: `void(error_code)`, always with an error: that of `lease::lost()` for the first
    /// member that is lost or released. Any number of calls may wait at once.
    ///
    /// Cancellation: all types.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto lost(Token&& token = Token()) const
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<const member_leases> members) {
                if (!members || members->all.empty())
                    return detail::complete_later(
                        std::move(handler), make_error_code(errc::not_held));
                start_lost(*members, error_handler(std::move(handler), members->executor));
            },
            token, std::shared_ptr<const member_leases>(members_));
    }

    /// Releases all members at once.
    ///
    /// Completion: `void(error_code, release_outcome)` when the last member was released. The
    /// outcome is the worst: `unconfirmed` before `expired` before `released`.
    ///
    /// Errors:
    /// - `errc::not_held`  empty, or a member was released before; the others are released all the
    ///   same.
    /// - `asio::error::operation_aborted`  this call was cancelled; the outcome is `unconfirmed`.
    ///
    /// Cancellation: terminal and partial; only the waiting ends, the release continues.
    template <
        asio::completion_token_for<void(error_code, release_outcome)> Token = asio::deferred_t>
    auto release(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code, release_outcome)>(
            [](auto handler, std::shared_ptr<member_leases> members) {
                if (!members || members->all.empty())
                    return detail::complete_later(std::move(handler),
                        make_error_code(errc::not_held), release_outcome::expired);
                start_release(*members, release_handler(std::move(handler), members->executor));
            },
            token, members_);
    }

private:
    friend class io::joint_acquire;
    // Shared with operations that were not initiated yet. The destructor empties it.
    struct member_leases {
        std::vector<lease> all; // ordered by name
        asio::any_io_executor executor;
    };
    using error_handler = detail::any_handler<void(error_code)>;
    using release_handler = detail::any_handler<void(error_code, release_outcome)>;

    multi_lease(std::vector<lease>&& members, asio::any_io_executor executor);

    HOLDFAST_EXPORT static void start_lost(const member_leases& members, error_handler&&);
    HOLDFAST_EXPORT static void start_release(member_leases& members, release_handler&&);

    std::shared_ptr<member_leases> members_; // null if empty
};

namespace detail {

// Each member by itself: the body may release one early, and go on under the others.
inline void watch_loss(multi_lease& held, const std::shared_ptr<hold_state>& state)
{
    for (const lease& each : held.members())
        watch_loss(each, state);
}

} // namespace detail

/// Several locks that are acquired together: all or none.
///
/// For work that needs more than one resource, such as a transfer between two accounts. Locks that
/// are acquired one after the other in different orders end in a deadlock: two holders wait for
/// each other until a wait is over. A `multi_lock` has one order for all callers, that of the names
/// of the resources, and waits for a member only while it holds none that comes later.
///
/// A value type: cheap to copy. Thread safety: as a `const std::string`. Lifetimes: as `lock`.
class multi_lock {
public:
    /// The members have these options each.
    ///
    /// Throws `std::invalid_argument` as `lock` does, if there is no resource, if one is named
    /// twice, or if `lock_options::min_hold` or `lock_options::linger` is not 0.
    HOLDFAST_EXPORT multi_lock(
        locker& owner, std::vector<resource> resources, lock_options options = {});

    /// The members may have different options, and may be of different lockers and stores; names
    /// must differ nevertheless, because they are the order. The time to wait, where it is not
    /// given, is the longest `lock_options::wait` of a member.
    ///
    /// Throws `std::invalid_argument` if there is no lock, if two have the same name, or if
    /// `lock_options::min_hold` or `lock_options::linger` of one is not 0.
    HOLDFAST_EXPORT explicit multi_lock(std::vector<lock> members);

    /// Waits until all resources are granted to the caller, or until `wait` has passed (`forever`
    /// allowed; 0 or less makes one attempt for each).
    ///
    /// All members are attempted at once, so without contention this takes as long as one acquire.
    /// If some are not free, those behind the first of them are given back, and that one is waited
    /// for. Members that are held are renewed meanwhile (not with `renewal::manual`); one that is
    /// lost before the last is granted is acquired again. The members behind one that is waited for
    /// are taken when they are free at that moment, or waited for in turn: an acquire
    /// of many resources may wait longer than an acquire of one.
    ///
    /// Completion: `void(error_code, multi_lease)`, never inside this call. Empty if there is an
    /// error, and only then.
    ///
    /// Errors: those of `lock::acquire()`, of the member that was waited for last. All others are
    /// released in the background.
    ///
    /// Cancellation: all types; `asio::error::operation_aborted`. What was granted is released in
    /// the background.
    template <asio::completion_token_for<void(error_code, multi_lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(std::chrono::milliseconds wait, Token&& token = Token()) const
    {
        return initiate(wait, false, token);
    }

    /// As above, with the `lock_options::wait` of the constructor.
    template <asio::completion_token_for<void(error_code, multi_lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const
    {
        return initiate(wait_, false, token);
    }

    /// Makes one attempt for each member, all at once. If one is held by another, or waited for by
    /// others of its locker, the result is empty and no error, and nothing is held.
    ///
    /// Completion: `void(error_code, multi_lease)`, never inside this call.
    ///
    /// Errors: those of `lock::try_acquire()`, of the first member in the order that was not
    /// granted. Cancellation: as `acquire()`.
    template <asio::completion_token_for<void(error_code, multi_lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const
    {
        return initiate(std::chrono::milliseconds(0), true, token);
    }

    /// Runs `body` under all locks: acquires, runs the body, releases on every path. As
    /// `lock::hold()`, with `body(multi_lease&)`: the body is cancelled when the first member is
    /// lost. If the body releases a member early, the others are still watched; the result of a
    /// body that returns nevertheless is then its own, as with a lease that it releases itself.
    template <class Body, class Token = asio::use_awaitable_t<>>
    requires std::is_invocable_v<Body&, multi_lease&>
    [[nodiscard]] auto hold(Body body, Token&& token = Token()) const
    {
        return detail::initiate_hold<multi_lease>(*this, std::move(body), token);
    }

    /// `lock::explain()` of each member, separated by "; ".
    [[nodiscard]] HOLDFAST_EXPORT std::string explain(const error_code& why) const;

    /// The members, ordered by the names of their resources.
    [[nodiscard]] HOLDFAST_EXPORT std::span<const lock> members() const noexcept;

    /// The executor of the first member's locker.
    HOLDFAST_EXPORT asio::any_io_executor get_executor() const noexcept;

private:
    friend struct detail::hold_access;
    using member_list = std::shared_ptr<const io::recipe_locks>;
    using acquire_handler = detail::any_handler<void(error_code, multi_lease)>;

    template <class Token>
    auto initiate(std::chrono::milliseconds wait, bool once, Token& token) const
    {
        return asio::async_initiate<Token, void(error_code, multi_lease)>(
            [](auto handler, const multi_lock& self, std::chrono::milliseconds limit, bool one) {
                acquire_handler erased(std::move(handler), self.get_executor());
                start_acquire(self.members_, limit, one, std::move(erased));
            },
            token, *this, wait, once);
    }
    // For hold(): each member has its own span.
    std::shared_ptr<trace_span> begin_span() const { return nullptr; }
    template <class Token>
    auto initiate_hold(std::shared_ptr<trace_span>&, Token& token) const
    {
        return initiate(wait_, false, token);
    }

    HOLDFAST_EXPORT static void start_acquire(
        member_list members, std::chrono::milliseconds wait, bool once, acquire_handler&&);

    member_list members_;
    std::chrono::milliseconds wait_{};
};

} // namespace holdfast
