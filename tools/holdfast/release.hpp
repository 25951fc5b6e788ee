#pragma once

#include "holdfast/command.hpp"

#include <string>

namespace holdfast::cli {

/// `holdfast release`: takes a lock away from its holder.
class release_command : public command {
public:
    void add_to(CLI::App& app) override;
    bool chosen() const override;
    int run(const invocation& with) override;

private:
    CLI::App* parsed_ = nullptr;
    std::string name_;
    bool force_ = false, yes_ = false;
};

} // namespace holdfast::cli
