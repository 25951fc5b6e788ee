#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benchmark {

// The value at the given part of the way from the smallest to the largest, rounded down to a value
// that was measured; 0 if there are none. Reorders the values. `peers` measures with the same
// definition.
template <class Number>
double quantile(std::vector<Number>& values, double part)
{
    if (values.empty())
        return 0;
    const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), at, values.end());
    return static_cast<double>(*at);
}

} // namespace benchmark
