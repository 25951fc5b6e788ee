#pragma once

#include "io/errand_performer.hpp"
#include "io/recipe_locks.hpp"
#include "io/registry.hpp"
#include "recipes/reader_room.hpp"
#include "recipes/slot_board.hpp"

#include <holdfast/detail/pending_handler.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/read_write_lock.hpp>

#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace holdfast::io {

class reading_room;

// The time for which readers of this process share the lease of a slot.
struct visit {
    std::uint64_t number = 0;
    lease slot;
    bool lost = false; // used on the strand, as the following
    // Those that have not left. One that could not, for lack of memory, is gone all the same.
    std::set<std::weak_ptr<reader_hold>, std::owner_less<>> inside;
};

// One reader inside.
struct reader_hold {
    const std::shared_ptr<reading_room> room;
    const std::shared_ptr<visit> during;
    const std::uint64_t reader;
    const std::optional<std::uint64_t> fence;
    std::atomic<bool> released = false;
    std::atomic<std::uint64_t> waits = 0; // numbers
};

// The readers of one object, and what they share with its writers. All functions but make() and the
// destructor run on the strand. It owns all handlers, so that they, and the coroutines behind them,
// are destroyed with the execution context.
class reading_room final : public recipe_locks,
                           public registrant,
                           public std::enable_shared_from_this<reading_room> {
public:
    using reader_handler = detail::pending_handler<error_code, shared_lease>;
    using release_handler = detail::pending_handler<error_code, release_outcome>;
    using loss_handler = detail::pending_handler<error_code>;

    static std::shared_ptr<reading_room> make(
        locker& owner, std::string given, const lock_options& options, std::size_t slots);
    reading_room(locker& owner, std::string given, const lock_options& options, std::size_t slots);
    reading_room(const reading_room&) = delete;
    reading_room& operator=(const reading_room&) = delete;
    ~reading_room();

    void arrive(std::uint64_t reader, recipes::patience limit, reader_handler told);
    void abandon(std::uint64_t reader);
    void leave(const std::shared_ptr<reader_hold>& hold, std::optional<release_handler> told);
    // Tells of the loss, under a number that the reader has not used yet.
    void await_loss(const reader_hold& hold, std::uint64_t number, loss_handler told);
    void abandon_loss(const reader_hold& hold, std::uint64_t number);

    std::size_t slots() const noexcept { return locks.size() - 1; }
    const lock& gate() const noexcept { return locks.back(); }
    core::duration interval() const { return gate().options().ttl / 8; }

    const std::string name;
    std::atomic<std::uint64_t> random;
    std::atomic<std::uint64_t> readers = 0; // numbers

private:
    class entry;
    // A reader, and a number of its own.
    using wait_id = std::pair<std::uint64_t, std::uint64_t>;

    // registrant
    std::shared_ptr<registrant> owned_registrant() noexcept override
    {
        return weak_from_this().lock();
    }
    void abandon() noexcept override;
    void leave_to_parent() noexcept override {} // its operations with locks end then

    // Completes the operations that wait for the loss.
    void tell(const reader_hold& hold, errc why);
    void perform(const recipes::reader_room::steps& wanted);
    void admit(std::uint64_t reader);
    void refuse(std::uint64_t reader, error_code why);
    void enter(recipes::patience limit);
    void entry_done(error_code why, bool has_slot, lease slot, std::optional<std::uint64_t> fence);
    void watch(const std::shared_ptr<visit>& which);
    void set_timer();

    recipes::slot_board board_;
    recipes::reader_room room_;
    std::shared_ptr<visit> visit_; // the current one
    std::optional<std::uint64_t> fence_;
    std::map<std::uint64_t, reader_handler> waiting_;
    std::map<wait_id, loss_handler> losses_;
    std::weak_ptr<entry> entry_; // its own operations keep it alive, and this
    asio::steady_timer timer_;
    core::time_point timer_at_ = core::never;
    bool abandoned_ = false;
};

} // namespace holdfast::io
