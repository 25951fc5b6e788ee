#pragma once

#include "settings.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flash_sale {

/// What became of one buyer.
enum class outcome : std::uint8_t {
    sold,     ///< the shop confirmed the order, under a lease that was held to the end
    sold_out, ///< nothing was left
    lost,     ///< the lease was lost before anything was written; the order was abandoned
    in_doubt, ///< the lease was lost with the write on its way: it may have taken effect
    gave_up,  ///< the lock could not be had
    refused,  ///< the shop's server had seen a later holder: nothing was written
};

/// The lines that a worker prints for its parent: one a buyer, one at its end.
std::string buyer_line(outcome what, std::chrono::microseconds wait, const std::string& why);
struct lock_work {
    std::uint64_t attempts = 0;      // times that the nodes were asked for the lock
    std::uint64_t handed_over = 0;   // leases that went from one buyer of a process to the next
    std::uint64_t node_commands = 0; // all that the lock cost on the nodes
};
std::string closing_line(const lock_work& done);

/// What it prints, without the line's end, when it is about to stop itself.
inline constexpr std::string_view stopping = "stopping";

/// Everything that the workers have told.
class tally {
public:
    /// Throws `std::runtime_error` on a line that is not one of the above.
    void add(std::string_view line);

    std::size_t count(outcome what) const { return counts_[static_cast<std::size_t>(what)]; }
    std::size_t served() const;
    const lock_work& work() const { return work_; }
    const std::vector<std::string>& reasons() const { return reasons_; }

    /// Orders a second between the first and the last one.
    double orders_per_second() const;

    /// How long buyers waited until the lock was theirs: a share of them no longer than this.
    std::chrono::microseconds wait(double share) const;

private:
    std::array<std::size_t, 6> counts_{};
    std::vector<std::uint32_t> waits_us_;
    std::vector<std::string> reasons_; // the first few
    lock_work work_;
    std::chrono::steady_clock::time_point first_order_, last_order_;
};

/// The truth, as the shop's server has it: how often the stock was written, and what it says now.
struct verdict {
    long sold = 0;
    long oversold = 0;
    long lost_updates = 0;

    verdict(long stock_before, long stock_after, long recorded_orders);
    bool good() const { return oversold == 0 && lost_updates == 0; }
    std::string text() const; ///< "sold=… oversold=… lost_updates=…"
};

struct node_losses {
    unsigned killed = 0;
    unsigned paused = 0;
};

/// Of the process that stood still, if one did.
struct freeze {
    unsigned processes = 0;
    long orders_meanwhile = 0; // that were recorded from then until it was woken
};

void print_table(const settings& wanted, const tally& told, const verdict& truth,
    const node_losses& losses, const freeze& frozen);

/// One line that is redrawn on a terminal; elsewhere, a line now and then.
class progress {
public:
    progress();
    std::chrono::milliseconds interval() const;
    void update(const std::string& text); ///< what is true now
    void say(const std::string& text);    ///< something that happened
    void finish();

private:
    bool terminal_;
    bool drawn_ = false;
    std::string last_;
};

} // namespace flash_sale
