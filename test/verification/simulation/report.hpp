#pragma once

#include "verification/simulation/simulation.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>

namespace holdfast::simulation {

// Prints the violations of one world.
void print(std::ostream& out, std::uint64_t seed, const result& r);

// The totals of many worlds.
class totals {
public:
    void add(std::uint64_t seed, const result& r);

    bool caught() const noexcept { return !violations_.empty(); }

    // Prints the figures and, for each world with a violation, the first violation and the command
    // (`program` and its arguments) that shows it again.
    void print(std::ostream& out, const std::string& program) const;
    // Prints one line: the first seed with a violation, the property and the text.
    void print_caught(std::ostream& out) const;

private:
    std::map<std::uint64_t, violation> violations_; // the first of each seed
    std::uint64_t seeds_ = 0, fenced_ = 0, leases_ = 0, events_ = 0, refused_writes_ = 0;
    std::uint64_t replaced_ = 0;
    std::chrono::duration<double> simulated_{};
    troublemaker::counts faults_{};
    network::counts streams_;
    std::uint64_t bursts_ = 0, attempts_ = 0, granted_ = 0;
    double most_times_the_work_ = 0;
};

} // namespace holdfast::simulation
