#pragma once

#include <holdfast/error.hpp>

#include <string>
#include <string_view>

namespace holdfast::core {

// What is known about an error of an operation on a resource, in one line that is safe to log.
// `holds`: a lease of this locker holds the resource. `nodes`: what is wrong with the nodes.
std::string explanation_of(
    std::string_view resource, const error_code& why, bool holds, std::string_view nodes);

} // namespace holdfast::core
