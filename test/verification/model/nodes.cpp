#include "verification/model/nodes.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::model {

bool holds(const node& n, attempt a, const rules& how) noexcept
{
    if (n.lock == 0)
        return false;
    const auto holder = static_cast<attempt>(n.lock - 1);
    return holder == a || (how.value_reused && client_of(holder) == client_of(a));
}

number grant(node& n, attempt a, number floor, const rules& how)
{
    if (n.lock != 0)
        return 0;
    const unsigned start = std::max(n.counter + 1u, unsigned{floor});
    const unsigned end = start + block - 1;
    if (end > largest_token)
        throw std::range_error("a token is too large for this model");
    n.counter = static_cast<number>(how.block_unreserved ? start : end);
    n.lock = static_cast<std::uint8_t>(a + 1);
    return static_cast<number>(start);
}

bool write_back(node& n, attempt a, number from, number to, const rules& how) noexcept
{
    const bool by_value = how.raise_unconditional || holds(n, a, how);
    const bool by_counter = how.raise_unconditional || how.raise_by_value || n.counter == from;
    if (!by_value || !by_counter)
        return false;
    n.counter = std::max(n.counter, to);
    return true;
}

bool extend(node& n, attempt a, number end_of_block, const rules& how) noexcept
{
    if (n.lock == 0 && how.extension_creates)
        n.lock = static_cast<std::uint8_t>(a + 1);
    if (!holds(n, a, how))
        return false;
    n.counter = std::max(n.counter, end_of_block);
    return true;
}

bool remove(node& n, attempt a, const rules& how) noexcept
{
    if (!holds(n, a, how))
        return false;
    n.lock = 0;
    return true;
}

} // namespace holdfast::model
