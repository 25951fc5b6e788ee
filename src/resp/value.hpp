#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::resp {

enum class value_kind : std::uint8_t {
    simple_string,
    blob_string,
    integer,
    real,
    boolean,
    null,
    error,
    array,
    map,
    set,
    push
};

// One value of a reply. Aggregates are flat: their elements follow in preorder.
struct value {
    value_kind kind = value_kind::null;
    std::uint32_t count = 0;  // direct child elements of an aggregate (a map of n pairs has 2n)
    std::int64_t integer = 0; // the value of an integer; 0 or 1 for a boolean
    // The text of strings and errors, and the digits of reals and big numbers (which are blob
    // strings here). A verbatim string comes without its "txt:".
    std::string_view text;
};

} // namespace holdfast::resp
