#include "recipes/reader_entry.hpp"

namespace holdfast::recipes {

void reader_entry::begin(time_point, steps& out)
{
    ask_for_gate(out);
}

void reader_entry::ask_for_gate(steps& out) const
{
    const auto what = limit_.once ? step::kind::try_lock : step::kind::wait_lock;
    out.push_back({.what = what, .lock = gate(), .until = limit_.until});
}

void reader_entry::granted(std::size_t lock, time_point now, const lease_view& leases, steps& out)
{
    if (lock == gate()) {
        if (room_.occupied()) {
            out.push_back({.what = step::kind::succeed, .lock = gate()});
            return;
        }
        search_.emplace(board_, limit_, interval_, random_.next());
        search_->begin(now, out);
        return;
    }
    // A slot counts only if it was taken behind the gate: a writer that has the gate now may have
    // found this slot empty before.
    if (leases.held(gate())) {
        out.push_back({.what = step::kind::succeed, .lock = lock});
        return;
    }
    search_->end();
    search_.reset();
    for (std::size_t i = 0; i <= gate(); ++i)
        out.push_back({.what = step::kind::drop, .lock = i});
    if (limit_.once || limit_.until <= now)
        out.push_back({.what = step::kind::give_up, .why = make_error_code(errc::too_late)});
    else
        ask_for_gate(out);
}

void reader_entry::refused(std::size_t lock, error_code why, time_point now, steps& out)
{
    if (lock == gate())
        out.push_back({.what = step::kind::give_up, .why = why});
    else
        search_->refused(lock, why, now, out);
}

void reader_entry::woken(time_point now, steps& out)
{
    if (search_)
        search_->woken(now, out);
}

void reader_entry::end() noexcept
{
    if (search_)
        search_->end();
}

} // namespace holdfast::recipes
