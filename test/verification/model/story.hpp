#pragma once

#include "verification/model/explorer.hpp"

#include <chrono>
#include <ostream>
#include <string>

namespace holdfast::model {

// The initial state and a step, in words. Attempts are named a1, a2 and b1, b2 after their clients.
std::string describe_beginning(const world& w, const protocol& p);
std::string describe(const step& s, const world& before, const world& after, const protocol& p);

void print(std::ostream& out, const finding& f, std::chrono::duration<double> took);
void print_row(std::ostream& out, const finding& f, std::chrono::duration<double> took);

} // namespace holdfast::model
