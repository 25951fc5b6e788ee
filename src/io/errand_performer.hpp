#pragma once

#include "io/recipe_locks.hpp"
#include "recipes/errand.hpp"

#include <holdfast/detail/pending_handler.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace holdfast::io {

// Performs an errand with real locks. Everything but the constructor runs on the strand of the
// locks.
class errand_performer : public recipes::lease_view,
                         public std::enable_shared_from_this<errand_performer> {
public:
    // `locks` keeps alive what the errand uses.
    errand_performer(
        std::shared_ptr<const recipe_locks> locks, std::unique_ptr<recipes::errand> work);
    errand_performer(const errand_performer&) = delete;
    errand_performer& operator=(const errand_performer&) = delete;

    void begin();
    // Ends it; what was granted is given back. Without effect when it has ended.
    void cancel(error_code why);

    bool held(std::size_t lock) const override;

    const asio::strand<asio::any_io_executor>& strand() const noexcept { return locks_->strand; }

protected:
    // The end: `result` is the lease of `lock`, or is empty. If the errand has succeeded with all
    // locks, it is the lease of the first, and take() has the others. Calls release_rest() before
    // it tells the result.
    virtual void done(error_code why, std::size_t lock, lease result) = 0;
    // The following are to be called by done().
    // What was granted and is neither dropped nor taken.
    lease take(std::size_t lock);
    // The token of such a lease.
    std::optional<std::uint64_t> fence_of(std::size_t lock) const;
    // Releases all such leases.
    void release_rest() { leases_.clear(); }

private:
    // An attempt under way. Its handler owns it.
    struct asking {
        asio::cancellation_signal stop;
        bool dropped = false;
        bool waits = false; // a free lock is waited for
    };

    void perform(const recipes::steps& wanted);
    void ask(const recipes::step& s);
    void answered(std::size_t lock, const asking& which, error_code why, lease&& given);
    void drop(std::size_t lock);
    void wake(recipes::time_point when);
    void finish(error_code why, std::size_t lock, lease result);
    static void stop(const std::shared_ptr<asking>& each);

    const std::shared_ptr<const recipe_locks> locks_;
    const std::unique_ptr<recipes::errand> errand_;
    std::map<std::size_t, std::shared_ptr<asking>> asked_;
    std::map<std::size_t, lease> leases_;
    asio::steady_timer timer_;
    std::uint64_t wakes_ = 0;
    bool over_ = false;
};

// An errand whose result is a user's: a lease.
class lease_errand final : public errand_performer {
public:
    using handler = detail::any_handler<void(error_code, lease)>;

    // Begins an errand, which may be cancelled with the handler's slot.
    static void start(std::shared_ptr<const recipe_locks> locks,
        std::unique_ptr<recipes::errand> work, handler&& told);

    lease_errand(std::shared_ptr<const recipe_locks> locks, std::unique_ptr<recipes::errand> work,
        handler&& told);

private:
    void done(error_code why, std::size_t lock, lease result) override;

    detail::pending_handler<error_code, lease> told_;
};

// The patience of a call: `wait` from now on.
recipes::patience patience_of(std::chrono::milliseconds wait, bool once);

} // namespace holdfast::io
