#pragma once

#include "holdfast/console.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// The text without anything that a terminal could take for a command, or that could make other
/// text look different. Control characters, marks of the direction of writing and bytes that are no
/// UTF-8 become escapes such as `\x1b` and `\u202e`. All other characters stay.
std::string visible(std::string_view text);

/// How many columns of a terminal a text needs at most. The text is as of `visible()`.
std::size_t columns_of(std::string_view text);

/// The text, cut off after so many columns.
std::string clipped(std::string_view text, std::size_t columns);

/// Lines whose cells stand below each other.
class table {
public:
    struct cell {
        std::string text; ///< as of `visible()`
        console::colour colour = console::colour::plain;
    };

    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }

    /// The lines; those wider than `columns` are cut off. 0: no limit.
    std::vector<std::string> lines(const console& out, std::size_t columns = 0) const;

private:
    std::vector<std::vector<cell>> rows_;
};

} // namespace holdfast::cli
