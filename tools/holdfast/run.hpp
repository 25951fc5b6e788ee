#pragma once

#include "holdfast/command.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/statuses.hpp"

#include <optional>
#include <string>

namespace holdfast::cli {

/// `holdfast run`: runs a command under a lock.
class run_command : public command {
public:
    void add_to(CLI::App& app) override;
    bool chosen() const override;
    bool takes_program() const noexcept override { return true; }
    int run(const invocation& with) override;

private:
    CLI::App* parsed_ = nullptr;
    std::string name_;
    duration ttl_{std::chrono::seconds(30)};
    std::optional<duration> wait_, kill_after_;
    bool try_ = false;
    int not_acquired_ = status::not_acquired;
};

} // namespace holdfast::cli
