#pragma once

#include "holdfast/console.hpp"
#include "holdfast/stores.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What a command is given beside its own options.
struct invocation {
    const store_settings& stores;
    const std::vector<std::string>& program; ///< the words after "--"
    const console& out;
};

/// One command of this program, such as `run`.
class command {
public:
    command() = default;
    command(const command&) = delete;
    command& operator=(const command&) = delete;
    virtual ~command() = default;

    /// Adds the command with its options to the parser.
    virtual void add_to(CLI::App& app) = 0;

    /// Whether it was given on the command line.
    virtual bool chosen() const = 0;

    /// Whether it runs a program, so that there must be words after "--".
    virtual bool takes_program() const noexcept { return false; }

    /// Performs it and returns the exit status. Throws `std::exception` if it cannot be begun.
    virtual int run(const invocation& with) = 0;
};

} // namespace holdfast::cli
