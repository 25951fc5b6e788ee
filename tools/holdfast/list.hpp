#pragma once

#include "holdfast/command.hpp"
#include "holdfast/text.hpp"

#include <holdfast/inspect.hpp>

#include <string>

namespace holdfast::cli {

/// `holdfast list`: all locks whose names begin with a prefix.
class list_command : public command {
public:
    void add_to(CLI::App& app) override;
    bool chosen() const override;
    int run(const invocation& with) override;

private:
    CLI::App* parsed_ = nullptr;
    std::string prefix_;
};

} // namespace holdfast::cli
