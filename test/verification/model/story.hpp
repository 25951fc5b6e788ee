#pragma once

#include "verification/model/explorer.hpp"
#include "verification/model/packing.hpp"

#include <chrono>
#include <ostream>
#include <string>

namespace holdfast::model {

// A step in words. Attempts are named a, b, c and d, nodes n1, n2, ….
std::string describe(const step& s, const world& before, const world& after, const naming& names);

void print(std::ostream& out, const finding& f, std::chrono::duration<double> took);
void print_row(std::ostream& out, const finding& f, std::chrono::duration<double> took);

} // namespace holdfast::model
