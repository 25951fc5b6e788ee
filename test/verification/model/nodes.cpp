#include "verification/model/nodes.hpp"

#include <algorithm>

namespace holdfast::model {

bool set(node& n, attempt a, small until) noexcept
{
    if (n.lock != 0)
        return false;
    n.lock = static_cast<std::uint8_t>(a + 1);
    n.until = until;
    return true;
}

bool accepts(const node& n, small ballot, const rules& how) noexcept
{
    if (n.empty)
        return how.creates_registers;
    return ballot > n.register_ || (how.accepts_all && ballot < n.register_) ||
           (how.accepts_equal && ballot == n.register_);
}

bool stamp(node& n, small ballot, const rules& how) noexcept
{
    if (!accepts(n, ballot, how))
        return false;
    n.register_ = ballot;
    n.empty = false;
    return true;
}

void flush(node& n) noexcept
{
    n.lock = 0;
    n.until = 0;
    n.register_ = 0;
    n.empty = true;
}

void open(node& n, small clock, small floor, const scope& s, const rules& how) noexcept
{
    const int from = how.clock_without_floor ? clock : std::max(clock, floor);
    const int last = from + quarantine(s) - how.quarantine_less;
    n.register_ = how.registers_at_zero ? small{0} : static_cast<small>(last);
    n.empty = false;
}

} // namespace holdfast::model
