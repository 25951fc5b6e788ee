#pragma once

#include "holdfast/command.hpp"

#include <string>

namespace holdfast::cli {

/// `holdfast inspect`: who holds a lock, and who waits for it.
class inspect_command : public command {
public:
    void add_to(CLI::App& app) override;
    bool chosen() const override;
    int run(const invocation& with) override;

private:
    CLI::App* parsed_ = nullptr;
    std::string name_;
};

} // namespace holdfast::cli
