#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace contention {

inline double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const auto n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// The median of a figure over several results.
template <class Results, class Figure>
double median_of(const Results& results, Figure figure)
{
    std::vector<double> values;
    for (const auto& result : results)
        values.push_back(static_cast<double>(figure(result)));
    return median(std::move(values));
}

/// a / b, or 0 if b is 0.
template <class A, class B>
double ratio(A a, B b)
{
    return b == B{} ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

} // namespace contention
