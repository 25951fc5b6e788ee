// Processes that read and write under a read-write lock.

#include "recipes/reader_entry.hpp"
#include "recipes/reader_room.hpp"
#include "recipes/writer_entry.hpp"
#include "verification/recipes/environment.hpp"
#include "verification/recipes/errand_player.hpp"
#include "verification/recipes/experiments.hpp"
#include "verification/recipes/referee.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::recipe_simulation {

namespace {

using role = referee::role;

// The readers of one process, as src/io performs them.
class reading_room {
public:
    // A reader's part of a slot lease.
    struct part {
        recipes::reader_room::visit number = 0;
        lease_pointer slot;
        std::uint64_t token = 0; // of the gate
        std::uint64_t who = 0;
    };
    using told = std::function<void(error_code, const part*)>;

    reading_room(process& p, environment& all, std::size_t slots)
        : owner(p),
          all_(all),
          slots_(slots),
          board_(slots),
          room_(all.locks.ttl / 4, [this] { return slot_ && !slot_->told && slot_->held(); })
    {}

    void arrive(std::uint64_t who, recipes::patience limit, told answer)
    {
        waiting_[who] = std::move(answer);
        report([&](auto& out) { room_.arrive(who, limit.once, limit.until, owner.now(), out); });
    }

    void abandon(std::uint64_t who)
    {
        if (waiting_.erase(who) != 0)
            report([&](auto& out) { room_.abandon(who, out); });
    }

    void leave(const part& p)
    {
        inside_[p.number].erase(p.who);
        recipes::reader_room::steps wanted;
        room_.leave(p.number, wanted);
        if (inside_[p.number].empty())
            all_.locks.release(p.slot);
    }

    // A reader stops when its lease is lost.
    void on_lost(const part& p, std::function<void()> stop)
    {
        inside_[p.number][p.who] = std::move(stop);
    }

    std::string name_of(std::size_t lock) const
    {
        return lock == slots_ ? "gate" : "slot " + std::to_string(lock);
    }

    process& owner;

private:
    template <class Report>
    void report(Report make)
    {
        recipes::reader_room::steps wanted;
        make(wanted);
        for (const auto& each : wanted)
            perform(each);
        set_timer();
    }

    void set_timer()
    {
        const time_point next = room_.next_deadline();
        if (next == timer_at_)
            return;
        timer_at_ = next;
        if (next != core::never)
            owner.deliver_at(next, [this, next] { expire(next); });
    }

    void expire(time_point set)
    {
        if (timer_at_ != set)
            return;
        timer_at_ = core::never;
        report([this](auto& out) { room_.expire(owner.now(), out); });
    }

    void perform(const recipes::reader_room::step& s)
    {
        using kind = recipes::reader_room::step::kind;
        switch (s.what) {
        case kind::admit: {
            const part given{room_.current(), slot_, token_, s.who};
            inside_[given.number][s.who] = nullptr;
            waiting_.extract(s.who).mapped()({}, &given);
            break;
        }
        case kind::refuse:
            waiting_.extract(s.who).mapped()(s.why, nullptr);
            break;
        case kind::enter:
            enter({.once = s.once, .until = s.until});
            break;
        case kind::cancel_entry:
            std::exchange(entry_, nullptr)->cancel();
            break;
        case kind::leave_slot:
            break; // see leave()
        }
    }

    void enter(recipes::patience limit)
    {
        entry_ = std::make_shared<errand_player>(all_.locks, owner,
            std::make_shared<recipes::reader_entry>(
                room_, board_, limit, all_.locks.ttl / 8, all_.w.random.bits()),
            [this](std::size_t lock) { return name_of(lock); });
        entry_->begin([this](error_code why, const lease_pointer& held) { entered(why, held); });
    }

    void entered(error_code why, const lease_pointer& held)
    {
        const auto ended = std::exchange(entry_, nullptr);
        if (!held) {
            report([&](auto& out) { room_.entry_failed(why, owner.now(), out); });
            return;
        }
        token_ = ended->lease_of(slots_)->token;
        const bool new_slot = held->resource != "gate";
        if (new_slot) {
            slot_ = held;
            slot_->when_lost([this, visit = room_.current() + 1] { lost(visit); });
        }
        report([&](auto& out) { room_.entered(new_slot, owner.now(), out); });
        if (!new_slot)
            all_.locks.release(held);
    }

    void lost(recipes::reader_room::visit visit)
    {
        room_.lost(visit);
        for (const auto& [who, stop] : std::map(inside_[visit])) {
            if (stop)
                stop();
        }
    }

    environment& all_;
    const std::size_t slots_;
    recipes::slot_board board_;
    recipes::reader_room room_;
    lease_pointer slot_; // of the current visit
    std::uint64_t token_ = 0;
    std::map<std::uint64_t, told> waiting_;
    std::map<recipes::reader_room::visit, std::map<std::uint64_t, std::function<void()>>> inside_;
    std::shared_ptr<errand_player> entry_;
    time_point timer_at_ = core::never;
};

class read_write_world {
public:
    explicit read_write_world(std::uint64_t seed)
        : all_(seed, 1 + seed % 4),
          slots_(1 + all_.w.random.below(4))
    {
        const std::size_t users = 1 + all_.w.random.below(6);
        writing_ = 0.5 * all_.w.random.fraction();
        for (process& each : all_.all) {
            rooms_.emplace_back(each, all_, slots_);
            for (std::size_t i = 0; i < users; ++i)
                users_.emplace_back(*this, rooms_.back(), users_.size());
        }
        for (user& each : users_)
            each.think();
    }

    result run()
    {
        all_.w.run_until(time_point(environment::length));
        all_.become_quiet();
        all_.w.run_until(time_point(environment::length + environment::quiet));
        for (const user& each : users_) {
            if (each.waits() && !each.room.owner.crashed())
                all_.w.violation("a user still waits in a quiet world");
        }
        return {all_.w.violations, referee_.begun()};
    }

private:
    class user {
    public:
        user(read_write_world& w, reading_room& r, std::uint64_t n) : room(r), world_(w), number_(n)
        {}

        void think()
        {
            const duration pause = world_.all_.w.random.of_any_size(100us, 5s);
            after(pause, [this] {
                if (!world_.all_.is_quiet())
                    ask();
            });
        }
        bool waits() const noexcept { return waits_; }

        reading_room& room;

    private:
        void after(duration delay, world::event what)
        {
            room.owner.deliver_at(room.owner.now() + delay, std::move(what));
        }

        void ask()
        {
            dice& random = world_.all_.w.random;
            recipes::patience limit;
            limit.once = random.chance(0.2);
            if (!limit.once && random.chance(0.5))
                limit.until = room.owner.now() + random.of_any_size(1ms, 20s);
            waits_ = true;
            ++asked_;
            const bool writes = random.chance(world_.writing_);
            if (random.chance(0.1))
                after(random.of_any_size(100us, 2s), [this, writes, mine = asked_] {
                    if (waits_ && mine == asked_)
                        give_up(writes);
                });
            if (writes)
                write(limit);
            else
                room.arrive(id(), limit, [this](error_code, const reading_room::part* given) {
                    waits_ = false;
                    if (given)
                        read(*given);
                    else
                        think();
                });
        }

        std::uint64_t id() const noexcept { return number_ << 32 | asked_; }

        void give_up(bool writes)
        {
            waits_ = false;
            if (writes)
                std::exchange(writer_, nullptr)->cancel();
            else
                room.abandon(id());
            think();
        }

        void write(recipes::patience limit)
        {
            writer_ = std::make_shared<errand_player>(world_.all_.locks, room.owner,
                std::make_shared<recipes::writer_entry>(world_.slots_, limit),
                [this](std::size_t lock) { return room.name_of(lock); });
            writer_->begin([this](error_code, const lease_pointer& held) {
                writer_ = nullptr;
                waits_ = false;
                if (!held) {
                    think();
                    return;
                }
                const auto stop = work(held, held->token, role::exclusive,
                    [this, held] { world_.all_.locks.release(held); });
                held->when_lost(stop);
            });
        }

        void read(const reading_room::part& given)
        {
            const auto stop =
                work(given.slot, given.token, role::shared, [this, given] { room.leave(given); });
            room.on_lost(given, stop);
        }

        // Returns what ends it.
        std::function<void()> work(
            const lease_pointer& held, std::uint64_t token, role as, std::function<void()> release)
        {
            world_.judge(token, as);
            if (!held->held())
                world_.all_.w.violation("a user is let in under a lease that has ended");
            const referee::place here = world_.referee_.begins(held, as);
            if (world_.referee_.acting(role::exclusive) > 1)
                world_.all_.w.violation("two writers");
            if (world_.referee_.acting(role::exclusive) > 0 &&
                world_.referee_.acting(role::shared) > 0)
                world_.all_.w.violation("a reader beside a writer");
            const auto working = std::make_shared<bool>(true);
            std::function<void()> stop = [this, here, working, release = std::move(release)] {
                if (!std::exchange(*working, false))
                    return;
                world_.referee_.ends(here);
                release();
                think();
            };
            after(world_.all_.w.random.of_any_size(1ms, 5s), stop);
            return stop;
        }

        read_write_world& world_;
        const std::uint64_t number_;
        std::uint64_t asked_ = 0;
        bool waits_ = false;
        std::shared_ptr<errand_player> writer_;
    };

    // Tokens order writers, and writers and readers, in the order in which they come in.
    void judge(std::uint64_t token, role as)
    {
        if (token <= last_writer_)
            all_.w.violation("a token that is not larger than that of an earlier writer");
        if (as == role::exclusive) {
            if (token <= last_reader_)
                all_.w.violation("a writer's token that is not larger than an earlier reader's");
            last_writer_ = token;
        }
        last_reader_ = std::max(last_reader_, token);
    }

    environment all_;
    const std::size_t slots_;
    double writing_ = 0;
    referee referee_{all_.w};
    std::uint64_t last_writer_ = 0, last_reader_ = 0;
    std::deque<reading_room> rooms_;
    std::deque<user> users_;
};

} // namespace

result simulate_read_write_lock(std::uint64_t seed)
{
    return read_write_world(seed).run();
}

} // namespace holdfast::recipe_simulation
