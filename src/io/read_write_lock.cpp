#include <holdfast/read_write_lock.hpp>

#include "io/errand_performer.hpp"
#include "io/reading_room.hpp"
#include "recipes/writer_entry.hpp"

#include <boost/asio/post.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast {

namespace {

std::size_t checked_slots(std::size_t slots)
{
    if (slots == 0 || slots > read_write_lock::most_slots)
        throw std::invalid_argument("holdfast: a read_write_lock with " + std::to_string(slots) +
                                    " slots; it must be 1 to " +
                                    std::to_string(read_write_lock::most_slots));
    return slots;
}

} // namespace

shared_lease::shared_lease() noexcept = default;

shared_lease::shared_lease(std::shared_ptr<io::reader_hold> hold) noexcept : hold_(std::move(hold))
{}

shared_lease::shared_lease(shared_lease&& other) noexcept = default;

shared_lease& shared_lease::operator=(shared_lease&& other) noexcept
{
    if (this != &other) {
        drop();
        hold_ = std::move(other.hold_);
    }
    return *this;
}

shared_lease::~shared_lease()
{
    drop();
}

void shared_lease::drop() noexcept
{
    const auto hold = std::exchange(hold_, nullptr);
    if (!hold || hold->released.exchange(true))
        return;
    try {
        asio::post(hold->room->strand, [hold] { hold->room->leave(hold, std::nullopt); });
    } catch (...) { // without memory, the slot is kept until the locker is closed
    }
}

shared_lease::operator bool() const noexcept
{
    return hold_ && !hold_->released;
}

bool shared_lease::held() const noexcept
{
    return hold_ && !hold_->released && hold_->during->slot.held();
}

std::chrono::steady_clock::time_point shared_lease::valid_until() const noexcept
{
    return hold_ && !hold_->released ? hold_->during->slot.valid_until()
                                     : std::chrono::steady_clock::time_point::min();
}

std::optional<std::uint64_t> shared_lease::fence() const noexcept
{
    return hold_ ? hold_->fence : std::nullopt;
}

const std::string& shared_lease::resource() const noexcept
{
    static const std::string none;
    return hold_ ? hold_->during->slot.resource() : none;
}

asio::any_io_executor shared_lease::usual_executor(const io::reader_hold& hold)
{
    return hold.room->gate().get_executor();
}

void shared_lease::start_lost(std::shared_ptr<io::reader_hold> hold, error_handler&& handler)
{
    const std::uint64_t number = hold->waits++;
    detail::pending_handler<error_code> told(std::move(handler));
    const auto strand = hold->room->strand;
    // The slot may outlive the context: it must not own the strand.
    if (auto slot = told.slot(); slot.is_connected())
        slot.assign([number, weak = std::weak_ptr(hold)](asio::cancellation_type) {
            if (const auto alive = weak.lock())
                asio::post(alive->room->strand,
                    [alive, number] { alive->room->abandon_loss(*alive, number); });
        });
    asio::post(strand, [hold = std::move(hold), number, told = std::move(told)]() mutable {
        hold->room->await_loss(*hold, number, std::move(told));
    });
}

void shared_lease::start_release(std::shared_ptr<io::reader_hold> hold, release_handler&& handler)
{
    io::reading_room::release_handler told(std::move(handler));
    const bool again = hold->released.exchange(true);
    const auto strand = hold->room->strand;
    asio::post(strand, [hold = std::move(hold), again, told = std::move(told)]() mutable {
        if (again)
            told.complete(make_error_code(errc::not_held), release_outcome::expired);
        else
            hold->room->leave(hold, std::move(told));
    });
}

read_write_lock::read_write_lock(
    locker& owner, holdfast::resource name, lock_options options, std::size_t slots)
{
    io::check_recipe("read_write_lock", name.name(), max_name_size, options);
    room_ = io::reading_room::make(owner, name.name(), options, checked_slots(slots));
}

const std::string& read_write_lock::name() const noexcept
{
    return room_->name;
}

std::size_t read_write_lock::slots() const noexcept
{
    return room_->slots();
}

const lock_options& read_write_lock::options() const noexcept
{
    return room_->gate().options();
}

std::string read_write_lock::explain(const error_code& why) const
{
    return room_->gate().explain(why);
}

asio::any_io_executor read_write_lock::get_executor() const noexcept
{
    return room_->gate().get_executor();
}

void read_write_lock::start(std::shared_ptr<io::reading_room> room, std::chrono::milliseconds wait,
    bool once, handler_of<lease>&& handler)
{
    auto work = std::make_unique<recipes::writer_entry>(room->slots(), io::patience_of(wait, once));
    io::lease_errand::start(std::move(room), std::move(work), std::move(handler));
}

void read_write_lock::start(std::shared_ptr<io::reading_room> room, std::chrono::milliseconds wait,
    bool once, handler_of<shared_lease>&& handler)
{
    const std::uint64_t reader = room->readers++;
    io::reading_room::reader_handler told(std::move(handler));
    const auto strand = room->strand;
    // The slot may outlive the context: it must not own the strand.
    if (auto slot = told.slot(); slot.is_connected())
        slot.assign([reader, weak = std::weak_ptr(room)](asio::cancellation_type) {
            if (const auto alive = weak.lock())
                asio::post(alive->strand, [alive, reader] { alive->abandon(reader); });
        });
    asio::post(strand,
        [room = std::move(room), reader, limit = io::patience_of(wait, once),
            told = std::move(told)]() mutable { room->arrive(reader, limit, std::move(told)); });
}

} // namespace holdfast
