#pragma once

#include "holdfast/command.hpp"
#include "holdfast/duration.hpp"

#include <optional>
#include <string>

namespace holdfast::cli {

/// `holdfast top`: the locks and nodes of a store, again and again.
class top_command : public command {
public:
    void add_to(CLI::App& app) override;
    bool chosen() const override;
    int run(const invocation& with) override;

private:
    CLI::App* parsed_ = nullptr;
    std::string prefix_, order_ = "age";
    duration interval_{std::chrono::seconds(2)};
    std::optional<unsigned> count_;
    bool batch_ = false;
};

} // namespace holdfast::cli
