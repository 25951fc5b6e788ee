#pragma once

#include "lock_servers.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace flash_sale {

/// Breaks servers of the lock during the sale. Of several servers, as many as a majority can do
/// without, two at most. A single one is killed and started again, and later stands still.
class saboteur {
public:
    /// `servers`: null without a lock. They outlive it.
    saboteur(const settings& wanted, lock_servers* servers);

    /// To be called after each order, and now and then. Returns a description of the fault, if one
    /// was caused or ended now.
    std::string act(std::size_t sold);

    const node_losses& losses() const { return losses_; }

private:
    std::string kill();
    std::string pause();
    std::string resume();
    bool may_resume(std::size_t sold) const;
    std::string name(std::size_t server) const;

    lock_servers* servers_;
    std::size_t expected_;
    bool kills_ = false, pauses_ = false;
    std::optional<std::size_t> paused_;
    std::chrono::steady_clock::time_point paused_at_{};
    node_losses losses_;
};

} // namespace flash_sale
