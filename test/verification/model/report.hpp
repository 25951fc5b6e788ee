#pragma once

#include "verification/model/explorer.hpp"

#include <chrono>
#include <ostream>
#include <string>

namespace holdfast::model {

// `violated`: the violations in words.
void print(std::ostream& out, const finding& f, const std::string& violated,
    std::chrono::duration<double> took);
// A row of a table.
void print_row(std::ostream& out, const finding& f, const std::string& violated,
    std::chrono::duration<double> took);

} // namespace holdfast::model
