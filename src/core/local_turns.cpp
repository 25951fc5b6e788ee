#include "core/local_turns.hpp"

namespace holdfast::core {

void local_turns::granted(time_point now) noexcept
{
    if (since_ == long_ago)
        since_ = now;
    if (closed_since_ == long_ago)
        closed_since_ = now;
}

void local_turns::refused(bool contended) noexcept
{
    end();
    if (contended)
        closed_since_ = long_ago;
}

void local_turns::end() noexcept
{
    passed_ = 0;
    since_ = long_ago;
    others_wait_ = false;
}

duration local_turns::take_window(const polling_params& polling, time_point now) noexcept
{
    if (!is_window_due(polling, now))
        return duration(0);
    closed_since_ = long_ago;
    return polling.window();
}

} // namespace holdfast::core
