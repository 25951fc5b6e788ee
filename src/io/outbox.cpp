#include "io/outbox.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::io {

namespace {

// So many calls are made in one turn of the executor; then other work may run.
constexpr std::size_t most_in_turn = 64;

} // namespace

void outbox::add(call c, kind k)
{
    {
        const std::lock_guard lock(mutex_);
        const bool is_event = k != kind::end_of_span;
        if (stopped_) {
            if (!is_event)
                late_.push_back(std::move(c));
            return;
        }
        if (is_event && events_ >= (k == kind::rare ? most + reserve : most)) {
            ++dropped_;
            return;
        }
        waiting_.push_back({std::move(c), is_event});
        if (is_event)
            ++events_;
        if (std::exchange(scheduled_, true))
            return;
    }
    schedule();
}

std::deque<outbox::entry> outbox::stop() noexcept
{
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    events_ = 0;
    return std::exchange(waiting_, {});
}

void outbox::schedule()
{
    asio::post(executor_, [self = shared_from_this()] { self->run(); });
}

// No other turn is scheduled while this one runs, so the calls are in order on many threads too.
void outbox::run()
{
    struct again { // also after an exception, which goes on to the caller of the executor
        outbox& self;
        ~again()
        {
            {
                const std::lock_guard lock(self.mutex_);
                self.scheduled_ = !self.waiting_.empty();
                if (!self.scheduled_)
                    return;
            }
            self.schedule();
        }
    } const at_end{*this};
    for (std::size_t i = 0; i < most_in_turn; ++i) {
        call c; // is destroyed without the mutex, too
        if (!next(c))
            return;
        c();
    }
}

bool outbox::next(call& c) noexcept
{
    const std::lock_guard lock(mutex_);
    if (waiting_.empty())
        return false;
    if (waiting_.front().is_event)
        --events_;
    c = std::move(waiting_.front().make);
    waiting_.pop_front();
    return true;
}

} // namespace holdfast::io
