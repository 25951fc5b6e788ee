#pragma once

#include <boost/json/object.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace benchmark {

inline double quantile(std::vector<float>& values, double part)
{
    const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), at, values.end());
    return static_cast<double>(*at);
}

// Adds the median, the 99th percentile and the maximum; adds nothing if there are no values.
inline void add_quantiles(
    boost::json::object& figures, const std::string& name, std::vector<float>& values)
{
    if (values.empty())
        return;
    figures[name + "_p50"] = quantile(values, 0.5);
    figures[name + "_p99"] = quantile(values, 0.99);
    figures[name + "_max"] = quantile(values, 1);
}

} // namespace benchmark
