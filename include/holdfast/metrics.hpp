#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/stats.hpp>

#include <span>
#include <string>
#include <string_view>

namespace holdfast {

/// The statistics of a locker in the text format of Prometheus, version 0.0.4, for an answer with
/// the content type `text/plain; version=0.0.4; charset=utf-8`. docs/metrics.md has the names.
///
/// `locker_label`: the value of the label `locker` of all samples; empty for no such label. UTF-8.
HOLDFAST_EXPORT std::string to_prometheus(
    const locker_stats& stats, std::string_view locker_label = {});

/// The statistics of one locker of several.
struct labelled_stats {
    std::string locker; ///< the value of the label `locker`. UTF-8, different for each locker
    locker_stats stats; ///< of that locker
};

/// The same for several lockers in one page: the texts of single lockers must not be joined, as
/// each metric may be described only once.
HOLDFAST_EXPORT std::string to_prometheus(std::span<const labelled_stats> lockers);

} // namespace holdfast
