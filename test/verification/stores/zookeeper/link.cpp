#include "verification/stores/zookeeper/link.hpp"

#include "verification/stores/zookeeper/server.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_simulation {

link::link(
    world& w, ensemble& all, std::size_t number, std::function<time_point()> client_cut_until)
    : world_(w),
      all_(all),
      number_(number),
      client_cut_until_(std::move(client_cut_until))
{}

void link::open()
{
    server& s = all_.at(number_);
    up_ = std::make_shared<message_line>(world_, [this, &s] {
        return std::max({held_until_, s.cut_until(), s.runs_from(), client_cut_until_()});
    });
    down_ = std::make_shared<message_line>(
        world_, [this, &s] { return std::max(s.cut_until(), client_cut_until_()); });
    if (!s.listens())
        return down_->send(answer_delay(), [self = shared_from_this()] { self->break_off(); });
    end_ = s.accept();
    end_->on_output = [weak = weak_from_this()](std::string bytes) {
        if (const auto self = weak.lock())
            self->deliver(std::move(bytes));
    };
    end_->on_close = [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->down_->send(self->answer_delay(), [self] { self->break_off(); });
    };
}

duration link::delay()
{
    return world_.random.of_any_size(50us, all_.trouble.slowest);
}

duration link::answer_delay()
{
    const duration usual = delay();
    if (!world_.random.chance(all_.trouble.slow_answer))
        return usual;
    return usual + world_.random.between(duration(0), all_.trouble.slowest_answer);
}

void link::send(std::string bytes)
{
    up_->send(delay(), [self = shared_from_this(), all = std::move(bytes)] {
        if (self->end_ && (!self->left_ || self->late_))
            self->end_->receive(all);
    });
    if (world_.random.chance(all_.trouble.break_off))
        world_.after(delay(), [self = shared_from_this()] { self->break_off(); });
}

// Either the server gets what is under way, perhaps much later, or nothing. It learns that the
// client has left, or does not.
void link::leave()
{
    if (std::exchange(left_, true))
        return;
    on_bytes = nullptr;
    on_break = nullptr;
    late_ = world_.random.chance(0.5);
    const bool slow = world_.random.chance(all_.trouble.late);
    held_until_ =
        world_.now() + world_.random.of_any_size(50us, slow ? duration(8s) : duration(20ms));
    if (world_.random.chance(0.3))
        return; // the host has vanished
    up_->send(delay(), [self = shared_from_this()] {
        if (self->end_)
            self->end_->close();
    });
}

void link::break_off()
{
    if (left_)
        return;
    const auto told = on_break;
    leave();
    if (told)
        told();
}

void link::deliver(std::string bytes)
{
    if (left_)
        return;
    if (world_.random.chance(all_.trouble.no_answer))
        return break_off();
    down_->send(answer_delay(), [self = shared_from_this(), all = std::move(bytes)] {
        if (self->on_bytes) {
            const auto to = self->on_bytes; // it may leave
            to(all);
        }
    });
}

} // namespace holdfast::zookeeper_simulation
