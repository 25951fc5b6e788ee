#pragma once

#include "verification/recipes/world.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace holdfast::zookeeper_simulation {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;
using recipe_simulation::world;

// What one side has sent to another and has not arrived yet: it arrives in order, as on a
// connection, and only while the way is open and the receiver runs.
class message_line : public std::enable_shared_from_this<message_line> {
public:
    // `open_from`: from when on something can arrive, as it looks now; it may be in the past.
    message_line(world& w, std::function<time_point()> open_from)
        : world_(w),
          open_from_(std::move(open_from))
    {}

    void send(duration takes, world::event what)
    {
        last_ = std::max(last_, world_.now() + takes);
        waiting_.push_back({last_, std::move(what)});
        deliver_at(last_);
    }
    // What is under way is lost, and so is all that follows.
    void drop()
    {
        dropped_ = true;
        waiting_.clear();
    }

private:
    struct message {
        time_point at;
        world::event what;
    };

    void deliver_at(time_point when)
    {
        world_.at(when, [self = shared_from_this()] { self->deliver(); });
    }
    void deliver()
    {
        if (waiting_.empty() || waiting_.front().at > world_.now())
            return;
        if (const time_point open = open_from_(); open > world_.now())
            return deliver_at(open + world_.random.of_any_size(1us, 3ms));
        while (!waiting_.empty() && waiting_.front().at <= world_.now()) {
            const world::event what = std::move(waiting_.front().what);
            waiting_.pop_front();
            if (!dropped_)
                what();
        }
    }

    world& world_;
    const std::function<time_point()> open_from_;
    std::deque<message> waiting_;
    time_point last_{};
    bool dropped_ = false;
};

} // namespace holdfast::zookeeper_simulation
