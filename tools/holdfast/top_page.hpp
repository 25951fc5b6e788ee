#pragma once

#include "holdfast/console.hpp"

#include <holdfast/inspect.hpp>
#include <holdfast/stats.hpp>

#include <boost/json/object.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// What `holdfast top` sorts by.
enum class top_order { age, ttl, queue, name };

/// Throws `std::invalid_argument` for another word.
top_order parse_top_order(std::string_view word);

/// What one page of `holdfast top` shows.
struct top_page {
    locker_stats stats;
    lock_list found;
    /// How many lockers wait for a lock; locks that were not asked about are missing.
    std::map<std::string, std::size_t> queues;
    std::string trouble; ///< why there is no list; empty if there is one
    std::string prefix;
    top_order order = top_order::age;

    /// Sorts the locks: the oldest, the one that ends first, the longest queue, or the first name
    /// comes first. Locks without that property come last.
    void sort();
};

/// The lines of a page, not wider than `columns` and not more than `rows`; 0: no limit. `hint` is
/// its last line, if it is not empty.
std::vector<std::string> lines_of(const top_page& page, const console& out, std::size_t rows = 0,
    std::size_t columns = 0, const std::string& hint = {});

boost::json::object json_of(const top_page& page);

} // namespace holdfast::cli
