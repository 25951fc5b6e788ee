#include "recipes/writer_entry.hpp"

namespace holdfast::recipes {

void writer_entry::begin(time_point, steps& out)
{
    ask(gate(), out);
}

void writer_entry::ask(std::size_t lock, steps& out) const
{
    const auto what = limit_.once ? step::kind::try_lock : step::kind::wait_lock;
    out.push_back({.what = what, .lock = lock, .until = limit_.until});
}

void writer_entry::granted(std::size_t lock, time_point now, const lease_view& leases, steps& out)
{
    if (lock == gate()) {
        left_ = slots_;
        for (std::size_t i = 0; i < slots_; ++i)
            ask(i, out);
        return;
    }
    out.push_back({.what = step::kind::drop, .lock = lock});
    if (--left_ != 0)
        return;
    if (leases.held(gate())) {
        out.push_back({.what = step::kind::succeed, .lock = gate()});
    } else if (limit_.once || limit_.until <= now) {
        out.push_back({.what = step::kind::give_up, .why = make_error_code(errc::too_late)});
    } else { // readers may have come in
        out.push_back({.what = step::kind::drop, .lock = gate()});
        ask(gate(), out);
    }
}

void writer_entry::refused(std::size_t, error_code why, time_point, steps& out)
{
    out.push_back({.what = step::kind::give_up, .why = why});
}

} // namespace holdfast::recipes
