#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/detail/hold.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/options.hpp>
#include <holdfast/release_outcome.hpp>
#include <holdfast/resource.hpp>
#include <holdfast/tracing.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast {

namespace io {
struct reader_hold;
class reading_room;
} // namespace io

/// A reader's part of a lease that the readers of a process share.
///
/// It keeps writers out until `valid_until()`, with the promises and the limits of a `lease`. When
/// the shared lease is lost, all readers that share it are told.
///
/// Thread safety and lifetimes: as `lease`.
class [[nodiscard]] shared_lease {
public:
    /// An empty lease.
    HOLDFAST_EXPORT shared_lease() noexcept;
    /// Leaves `other` empty.
    HOLDFAST_EXPORT shared_lease(shared_lease&& other) noexcept;
    /// Leaves `other` empty. This reader leaves as by the destructor.
    HOLDFAST_EXPORT shared_lease& operator=(shared_lease&& other) noexcept;
    /// The reader leaves. Never blocks, never throws.
    HOLDFAST_EXPORT ~shared_lease();

    /// Whether this object was granted and has not been released since. Does not consider the
    /// clock: see `held()`.
    HOLDFAST_EXPORT explicit operator bool() const noexcept;

    /// As `lease::held()`.
    [[nodiscard]] HOLDFAST_EXPORT bool held() const noexcept;

    /// As `lease::valid_until()`.
    [[nodiscard]] HOLDFAST_EXPORT std::chrono::steady_clock::time_point valid_until()
        const noexcept;

    /// A fencing token of the gate: larger than that of every writer that was granted before this
    /// reader came in, and smaller than that of every writer that is granted later. Readers that
    /// came in together have the same one. Empty where the backend has no tokens.
    HOLDFAST_EXPORT std::optional<std::uint64_t> fence() const noexcept;

    /// The name of the resource of the slot; empty for an empty lease.
    HOLDFAST_EXPORT const std::string& resource() const noexcept;

    /// Waits until the reading must stop. As `lease::lost()`: `errc::lease_lost`,
    /// `errc::not_held` after this reader's release, `asio::error::operation_aborted`.
    ///
    /// Completion: `void(error_code)`, always with an error. Cancellation: all types.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto lost(Token&& token = Token()) const
    {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, std::shared_ptr<io::reader_hold> hold) {
                if (!hold) // an empty lease
                    return detail::complete_later(
                        std::move(handler), make_error_code(errc::not_held));
                const auto usual = usual_executor(*hold);
                start_lost(std::move(hold), error_handler(std::move(handler), usual));
            },
            token, hold_);
    }

    /// The reader leaves. The last one releases the slot, and completes when a majority has
    /// confirmed; the others complete at once, as `released`.
    ///
    /// Completion: `void(error_code, release_outcome)`; `expired` without an error if the lease was
    /// lost before. Errors: `errc::not_held`  released before, or empty; the outcome is `expired`.
    ///
    /// Cancellation: none. It ends in bounded time, as `lease::release()`.
    template <
        asio::completion_token_for<void(error_code, release_outcome)> Token = asio::deferred_t>
    auto release(Token&& token = Token())
    {
        return asio::async_initiate<Token, void(error_code, release_outcome)>(
            [](auto handler, std::shared_ptr<io::reader_hold> hold) {
                if (!hold) // an empty lease
                    return detail::complete_later(std::move(handler),
                        make_error_code(errc::not_held), release_outcome::expired);
                const auto usual = usual_executor(*hold);
                start_release(std::move(hold), release_handler(std::move(handler), usual));
            },
            token, hold_);
    }

private:
    friend class io::reading_room;
    using error_handler = detail::any_handler<void(error_code)>;
    using release_handler = detail::any_handler<void(error_code, release_outcome)>;

    explicit shared_lease(std::shared_ptr<io::reader_hold> hold) noexcept;
    void drop() noexcept;
    HOLDFAST_EXPORT static asio::any_io_executor usual_executor(const io::reader_hold& hold);
    HOLDFAST_EXPORT static void start_lost(
        std::shared_ptr<io::reader_hold> hold, error_handler&& handler);
    HOLDFAST_EXPORT static void start_release(
        std::shared_ptr<io::reader_hold> hold, release_handler&& handler);

    std::shared_ptr<io::reader_hold> hold_;
};

/// Many readers at once, or one writer.
///
/// It is made of locks: a gate, `name:holdfast:gate`, and slots, `name:0:holdfast:reader`, …. A
/// reader passes the gate: acquires it, takes a free slot, and releases it. A writer acquires the
/// gate and keeps it, then waits until it has had each slot once; so all readers that came in
/// before have left. Works on every store, and with fencing.
///
/// Neither readers nor writers starve: both wait for the gate in one queue, in the order in which
/// their processes came, and a writer that has the gate waits only for the readers inside. While it
/// waits for them, no other reader comes in, except into a slot that its process has taken less
/// than `lock_options::handoff_time` before.
///
/// The readers of a process share one slot: those that use the same object, or copies of it. The
/// first one passes the gate. The next ones join it without a request to the nodes, for as long as
/// `lock_options::handoff_time` after the gate was passed; after that, one of them passes the gate
/// again, behind the writers that wait there. `slots` limits how many processes can read at once;
/// the next one waits at the gate, and holds up all behind it. All processes must use the same
/// number: a writer with fewer slots does not see the readers in the others.
///
/// `lock_options::max_hold` counts from when the first of the readers that share a slot came in;
/// one that joins it has what is left. A `shared_lease` cannot be extended: with `renewal::manual`
/// the reading ends with the ttl of that first reader.
///
/// Not reentrant, and without upgrade: a reader that acquires as a writer waits for itself. A
/// reader that acquires once more may wait behind a writer that waits for it.
///
/// Thread safety: as a `const std::string`. Lifetimes: may outlive its locker; its operations then
/// fail with `errc::closed`.
class read_write_lock {
public:
    static constexpr std::size_t usual_slots = 8;     ///< processes that read at once
    static constexpr std::size_t most_slots = 256;    ///< of one lock
    static constexpr std::size_t max_name_size = 480; ///< in bytes

    /// `options` are those of the gate and of each slot: see `lock`. Throws `std::invalid_argument`
    /// as `lock` does, if `slots` is 0 or more than `most_slots`, if the name is longer than
    /// `max_name_size`, or if `lock_options::min_hold` or `lock_options::linger` is not 0.
    HOLDFAST_EXPORT read_write_lock(
        locker& owner, resource name, lock_options options = {}, std::size_t slots = usual_slots);

    HOLDFAST_EXPORT const std::string& name() const noexcept;     ///< as given
    HOLDFAST_EXPORT std::size_t slots() const noexcept;           ///< as given
    HOLDFAST_EXPORT const lock_options& options() const noexcept; ///< as checked

    /// Waits until no reader and no other writer is inside, or until `wait` has passed (default: as
    /// in `lock_options`; `forever` allowed).
    ///
    /// The result is the lease of the gate. It is renewed while the readers leave, but a lease of
    /// `renewal::manual`, and `lock_options::max_hold`, count from when the gate was acquired. If
    /// it is lost meanwhile, the writer starts again, or fails with `errc::too_late`. Its fencing
    /// token is larger than those of all writers and readers that came before.
    ///
    /// Completion: `void(error_code, lease)`, never inside this call. Errors: as `lock::acquire()`.
    ///
    /// Cancellation: all types. A grant at the same time is given back.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(std::chrono::milliseconds wait, Token&& token = Token()) const
    {
        return initiate<lease>(wait, false, token);
    }

    /// As above, with `lock_options::wait`.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const
    {
        return initiate<lease>(options().wait, false, token);
    }

    /// Makes one attempt to become the writer. If others are inside or at the gate, the result is
    /// an empty lease and no error. Readers that come meanwhile are held up for that moment.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const
    {
        return initiate<lease>(std::chrono::milliseconds(0), true, token);
    }

    /// Waits until this reader is inside, or until `wait` has passed (default: as in
    /// `lock_options`; `forever` allowed).
    ///
    /// Completion: `void(error_code, shared_lease)`, never inside this call. Errors: as
    /// `lock::acquire()`; `errc::contended` if a writer was inside or ahead in the queue, or if all
    /// slots were taken. It may stand for another reason if another reader of this process waits
    /// for longer.
    ///
    /// Cancellation: all types. A grant at the same time is given back.
    template <asio::completion_token_for<void(error_code, shared_lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire_shared(std::chrono::milliseconds wait, Token&& token = Token()) const
    {
        return initiate<shared_lease>(wait, false, token);
    }

    /// As above, with `lock_options::wait`.
    template <asio::completion_token_for<void(error_code, shared_lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire_shared(Token&& token = Token()) const
    {
        return initiate<shared_lease>(options().wait, false, token);
    }

    /// Makes one attempt to read. If a writer is inside or others are at the gate, the result is an
    /// empty lease and no error.
    template <asio::completion_token_for<void(error_code, shared_lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_shared(Token&& token = Token()) const
    {
        return initiate<shared_lease>(std::chrono::milliseconds(0), true, token);
    }

    /// Runs `body(lease&)` as the writer: as `lock::hold()`.
    template <class Body, class Token = asio::use_awaitable_t<>>
    requires std::is_invocable_v<Body&, lease&>
    [[nodiscard]] auto hold(Body body, Token&& token = Token()) const
    {
        return detail::initiate_hold<lease>(side<lease>{*this}, std::move(body), token);
    }

    /// Runs `body(shared_lease&)` as a reader: as `lock::hold()`.
    template <class Body, class Token = asio::use_awaitable_t<>>
    requires std::is_invocable_v<Body&, shared_lease&>
    [[nodiscard]] auto hold_shared(Body body, Token&& token = Token()) const
    {
        return detail::initiate_hold<shared_lease>(
            side<shared_lease>{*this}, std::move(body), token);
    }

    /// As `lock::explain()`, for the gate.
    [[nodiscard]] HOLDFAST_EXPORT std::string explain(const error_code& why) const;

    /// The executor of the locker.
    HOLDFAST_EXPORT asio::any_io_executor get_executor() const noexcept;

private:
    template <class Lease>
    using handler_of = detail::any_handler<void(error_code, Lease)>;

    template <class Lease, class Token>
    auto initiate(std::chrono::milliseconds wait, bool once, Token& token) const
    {
        return asio::async_initiate<Token, void(error_code, Lease)>(
            [](auto handler, std::shared_ptr<io::reading_room> room,
                std::chrono::milliseconds limit, bool try_only,
                const asio::any_io_executor& usual) {
                start(
                    std::move(room), limit, try_only, handler_of<Lease>(std::move(handler), usual));
            },
            token, room_, wait, once, get_executor());
    }

    // What hold() needs of a lock, for one of the two kinds of holders.
    template <class Lease, class Whole = read_write_lock>
    struct side {
        Whole whole;

        asio::any_io_executor get_executor() const { return whole.get_executor(); }
        std::string explain(const error_code& why) const { return whole.explain(why); }
        // The gate and the slots have spans of their own.
        std::shared_ptr<trace_span> begin_span() const { return nullptr; }
        template <class Token>
        auto initiate_hold(const std::shared_ptr<trace_span>&, Token& token) const
        {
            return whole.template initiate<Lease>(whole.options().wait, false, token);
        }
    };

    HOLDFAST_EXPORT static void start(std::shared_ptr<io::reading_room> room,
        std::chrono::milliseconds wait, bool once, handler_of<lease>&& handler);
    HOLDFAST_EXPORT static void start(std::shared_ptr<io::reading_room> room,
        std::chrono::milliseconds wait, bool once, handler_of<shared_lease>&& handler);

    std::shared_ptr<io::reading_room> room_;
};

} // namespace holdfast
