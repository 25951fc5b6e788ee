#include "io/reading_room.hpp"

#include "io/clock.hpp"
#include "io/engine.hpp"
#include "io/entropy.hpp"
#include "recipes/reader_entry.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

namespace holdfast::io {

namespace {

core::duration open_for(const lock_options& options)
{
    return options.handoff_time.value_or(options.ttl / 4);
}

} // namespace

// One reader on its way through the gate, for all that wait in this process.
class reading_room::entry final : public errand_performer {
public:
    entry(std::shared_ptr<reading_room> room, std::unique_ptr<recipes::errand> work)
        : errand_performer(room, std::move(work)),
          room_(std::move(room))
    {}

private:
    void done(error_code why, std::size_t lock, lease result) override
    {
        const bool has_slot = result && lock != room_->slots();
        const auto fence = has_slot ? fence_of(room_->slots()) : result.fence();
        release_rest(); // the gate, so that no reader that is told now keeps it
        if (room_->entry_.lock().get() != this)
            return; // no reader waits for it any more
        room_->entry_done(why, has_slot, std::move(result), fence);
    }

    const std::shared_ptr<reading_room> room_;
};

bool recipe_access::grants(const lock& any) noexcept
{
    return any.engine_->grants();
}

std::shared_ptr<reading_room> reading_room::make(
    locker& owner, std::string given, const lock_options& options, std::size_t slots)
{
    auto made = std::make_shared<reading_room>(owner, std::move(given), options, slots);
    registry::of(made->gate().get_executor()).add(*made);
    return made;
}

reading_room::reading_room(
    locker& owner, std::string given, const lock_options& options, std::size_t slots)
    : recipe_locks{asio::make_strand(owner.get_executor()), {}},
      name(std::move(given)),
      random(os_entropy().seed()),
      board_(slots),
      room_(open_for(options), [this] { return visit_ && !visit_->lost && visit_->slot.held(); }),
      timer_(strand)
{
    for (std::size_t i = 0; i < slots; ++i)
        locks.push_back(recipe_access::make(owner, slot_name(name, i, "reader"), options));
    locks.push_back(recipe_access::make(owner, name + ":holdfast:gate", options));
}

reading_room::~reading_room()
{
    if (!abandoned_)
        registry::of(gate().get_executor()).remove(*this);
}

void reading_room::abandon() noexcept
{
    abandoned_ = true;
    const auto readers_gone = std::exchange(waiting_, {});
    const auto losses_gone = std::exchange(losses_, {});
    // Handlers are destroyed here, and with them coroutines, their locks and leases.
}

void reading_room::arrive(std::uint64_t reader, recipes::patience limit, reader_handler told)
{
    // Those inside have a slot, so this reader might not ask the locker for anything.
    if (!recipe_access::grants(gate())) {
        told.complete(make_error_code(errc::closed), shared_lease());
        return;
    }
    waiting_.emplace(reader, std::move(told));
    recipes::reader_room::steps wanted;
    room_.arrive(reader, limit.once, limit.until, now(), wanted);
    perform(wanted);
}

void reading_room::abandon(std::uint64_t reader)
{
    auto told = waiting_.extract(reader);
    if (!told)
        return; // inside or refused already
    recipes::reader_room::steps wanted;
    room_.abandon(reader, wanted);
    perform(wanted);
    told.mapped().complete(asio::error::operation_aborted, shared_lease());
}

void reading_room::leave(
    const std::shared_ptr<reader_hold>& hold, std::optional<release_handler> told)
{
    tell(*hold, errc::not_held);
    visit& during = *hold->during;
    during.inside.erase(hold);
    recipes::reader_room::steps wanted;
    room_.leave(during.number, wanted);
    if (!wanted.empty())
        visit_.reset();
    if (!during.inside.empty()) {
        if (told) {
            const bool good = !during.lost && during.slot.held();
            told->complete({}, good ? release_outcome::released : release_outcome::expired);
        }
        return;
    }
    during.slot.release([told = std::move(told)](error_code why, release_outcome outcome) mutable {
        if (told)
            told->complete(why, outcome);
    });
}

void reading_room::await_loss(const reader_hold& hold, std::uint64_t number, loss_handler told)
{
    if (hold.released)
        told.complete(make_error_code(errc::not_held));
    else if (hold.during->lost)
        told.complete(make_error_code(errc::lease_lost));
    else
        losses_.emplace(wait_id{hold.reader, number}, std::move(told));
}

void reading_room::abandon_loss(const reader_hold& hold, std::uint64_t number)
{
    if (auto told = losses_.extract({hold.reader, number}))
        told.mapped().complete(asio::error::operation_aborted);
}

void reading_room::tell(const reader_hold& hold, errc why)
{
    const auto begin = losses_.lower_bound({hold.reader, 0});
    auto end = begin;
    for (; end != losses_.end() && end->first.first == hold.reader; ++end)
        end->second.complete(make_error_code(why));
    losses_.erase(begin, end);
}

void reading_room::perform(const recipes::reader_room::steps& wanted)
{
    using kind = recipes::reader_room::step::kind;
    for (const auto& s : wanted) {
        switch (s.what) {
        case kind::admit:
            admit(s.who);
            break;
        case kind::refuse:
            refuse(s.who, s.why);
            break;
        case kind::enter:
            enter({.once = s.once, .until = s.until});
            break;
        case kind::cancel_entry:
            if (const auto gone = std::exchange(entry_, {}).lock())
                gone->cancel(asio::error::operation_aborted);
            break;
        case kind::leave_slot:
            break; // see leave()
        }
    }
    set_timer();
}

void reading_room::admit(std::uint64_t reader)
{
    auto told = waiting_.extract(reader);
    const auto hold = std::make_shared<reader_hold>(shared_from_this(), visit_, reader, fence_);
    visit_->inside.insert(hold);
    told.mapped().complete({}, shared_lease(hold));
}

void reading_room::refuse(std::uint64_t reader, error_code why)
{
    auto told = waiting_.extract(reader);
    told.mapped().complete(why, shared_lease());
}

void reading_room::enter(recipes::patience limit)
{
    core::jitter numbers(random.fetch_add(1));
    const auto begun = std::make_shared<entry>(shared_from_this(),
        std::make_unique<recipes::reader_entry>(room_, board_, limit, interval(), numbers.next()));
    entry_ = begun;
    begun->begin();
}

void reading_room::entry_done(
    error_code why, bool has_slot, lease slot, std::optional<std::uint64_t> fence)
{
    entry_.reset();
    recipes::reader_room::steps wanted;
    if (!slot) {
        room_.entry_failed(why, now(), wanted);
        perform(wanted);
        return;
    }
    if (has_slot)
        visit_ = std::make_shared<visit>();
    room_.entered(has_slot, now(), wanted);
    fence_ = fence;
    if (has_slot) {
        visit_->number = room_.current();
        visit_->slot = std::move(slot);
        watch(visit_);
    }
    perform(wanted);
}

void reading_room::watch(const std::shared_ptr<visit>& which)
{
    auto told = [self = shared_from_this(), which](error_code why) {
        if (why != errc::lease_lost)
            return;
        which->lost = true;
        self->room_.lost(which->number);
        for (const auto& each : which->inside) {
            if (const auto hold = each.lock())
                self->tell(*hold, errc::lease_lost);
        }
    };
    which->slot.lost(asio::bind_executor(strand, std::move(told)));
}

void reading_room::set_timer()
{
    const core::time_point next = room_.next_deadline();
    if (next == timer_at_)
        return;
    timer_at_ = next;
    timer_.cancel();
    if (next == core::never)
        return;
    timer_.expires_at(to_steady(next));
    timer_.async_wait([self = shared_from_this(), next](error_code) {
        if (self->timer_at_ != next)
            return;
        self->timer_at_ = core::never;
        recipes::reader_room::steps wanted;
        self->room_.expire(now(), wanted);
        self->perform(wanted);
    });
}

} // namespace holdfast::io
