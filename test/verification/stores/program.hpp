#pragma once

#include "verification/stores/result.hpp"

#include <boost/program_options.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace holdfast::store_simulation {

// The main() of a program that simulates the worlds of a store, by their seeds:
//
//     <name> [--first <seed>] [--count <n>] [--until-caught] [<more>]
//
// Prints a line; with --until-caught "<seed>\t<violation>" and a second column that is empty if
// there is none. Returns the exit status: 1 if there is a violation, 2 if the arguments are wrong.
// `simulate` runs the world of a seed, and is called after the values of `more` are known.
int run_program(int argc, char** argv, const std::string& name,
    const std::function<result(std::uint64_t seed)>& simulate,
    const boost::program_options::options_description& more = {});

} // namespace holdfast::store_simulation
