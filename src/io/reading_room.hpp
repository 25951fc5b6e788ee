#pragma once

#include "io/errand_performer.hpp"
#include "io/recipe_locks.hpp"
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

namespace holdfast::io {

class reading_room;

// The time for which readers of this process share the lease of a slot.
struct visit {
    std::uint64_t number = 0;
    lease slot;
    bool lost = false;             // used on the strand, as the following
    std::set<reader_hold*> inside; // those that have not left
};

// One reader inside.
struct reader_hold : std::enable_shared_from_this<reader_hold> {
    reader_hold(std::shared_ptr<reading_room> r, std::shared_ptr<visit> v,
        std::optional<std::uint64_t> token)
        : room(std::move(r)),
          during(std::move(v)),
          fence(token)
    {}

    // Completes the operations that wait for the loss; on the strand.
    void tell(errc why);

    const std::shared_ptr<reading_room> room;
    const std::shared_ptr<visit> during;
    const std::optional<std::uint64_t> fence;
    std::atomic<bool> released = false;
    std::map<std::uint64_t, detail::pending_handler<error_code>> waiting; // on the strand
    std::atomic<std::uint64_t> waits = 0;
};

// The readers of one object, and what they share with its writers. All functions but the
// constructor run on the strand.
class reading_room : public recipe_locks, public std::enable_shared_from_this<reading_room> {
public:
    using reader_handler = detail::pending_handler<error_code, shared_lease>;
    using release_handler = detail::pending_handler<error_code, release_outcome>;

    reading_room(locker& owner, std::string given, const lock_options& options, std::size_t slots);

    void arrive(std::uint64_t reader, recipes::patience limit, reader_handler told);
    void abandon(std::uint64_t reader);
    void leave(const std::shared_ptr<reader_hold>& hold, std::optional<release_handler> told);

    std::size_t slots() const noexcept { return locks.size() - 1; }
    const lock& gate() const noexcept { return locks.back(); }
    core::duration interval() const { return gate().options().ttl / 8; }

    const std::string name;
    std::atomic<std::uint64_t> random;
    std::atomic<std::uint64_t> readers = 0; // numbers

private:
    class entry;

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
    std::weak_ptr<entry> entry_; // its own operations keep it alive, and this
    asio::steady_timer timer_;
    core::time_point timer_at_ = core::never;
};

} // namespace holdfast::io
