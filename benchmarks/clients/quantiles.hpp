#pragma once

#include "quantile.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace benchmark {

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
