#pragma once

#include "holdfast/command.hpp"
#include "holdfast/duration.hpp"

namespace holdfast::cli {

/// `holdfast ping`: connects to all nodes, asks them some questions, and reports on each of them.
class ping_command : public command {
public:
    void add_to(CLI::App& app) override;
    bool chosen() const override;
    int run(const invocation& with) override;

private:
    CLI::App* parsed_ = nullptr;
    unsigned count_ = 5;
    duration timeout_{std::chrono::seconds(3)};
};

} // namespace holdfast::cli
