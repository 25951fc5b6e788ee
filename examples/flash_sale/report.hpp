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

/// The outcome for one buyer.
enum class outcome : std::uint8_t {
    sold,     ///< the shop confirmed the order, under a lease that was held to the end
    sold_out, ///< nothing was left
    lost,     ///< the lease was lost before anything was written; the order was abandoned
    in_doubt, ///< the lease was lost while the write was under way: it may have taken effect
    gave_up,  ///< the lock could not be acquired
    refused,  ///< the shop's server had seen a later holder: nothing was written
};

/// The lines that a worker prints for its parent: one for each buyer, one at its end.
std::string buyer_line(outcome what, std::chrono::microseconds wait, const std::string& why);
struct lock_work {
    std::uint64_t attempts = 0;      // attempts at the nodes
    std::uint64_t handed_over = 0;   // leases transferred from one buyer of a process to the next
    std::uint64_t node_commands = 0; // all commands for the lock on the nodes
};
std::string closing_line(const lock_work& done);

/// The line that a worker prints before it stops itself, without the line end.
inline constexpr std::string_view stopping = "stopping";

/// The sum of all reports of the workers.
class tally {
public:
    /// Throws `std::runtime_error` on any other line.
    void add(std::string_view line);

    std::size_t count(outcome what) const { return counts_[static_cast<std::size_t>(what)]; }
    std::size_t served() const;
    const lock_work& work() const { return work_; }
    const std::vector<std::string>& reasons() const { return reasons_; }

    /// Orders per second between the first and the last one.
    double orders_per_second() const;

    /// A quantile of the time that buyers waited for the lock: this share waited no longer.
    std::chrono::microseconds wait(double share) const;

private:
    std::array<std::size_t, 6> counts_{};
    std::vector<std::uint32_t> waits_us_;
    std::vector<std::string> reasons_; // the first few
    lock_work work_;
    std::chrono::steady_clock::time_point first_order_, last_order_;
};

/// The result according to the shop's server: the recorded orders and the stock that is left.
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
    bool restarted = false; // the killed ones
};

/// The process that was stopped, if any.
struct freeze {
    unsigned processes = 0;
    long orders_meanwhile = 0; // recorded between the stop and the resumption
};

void print_table(const settings& wanted, const tally& told, const verdict& truth,
    const node_losses& losses, const freeze& frozen);

/// One line that is redrawn on a terminal. If the output is not a terminal: a line now and then.
class progress {
public:
    progress();
    std::chrono::milliseconds interval() const;
    void update(const std::string& text); ///< the current state
    void say(const std::string& text);    ///< an event
    void finish();

private:
    bool terminal_;
    bool drawn_ = false;
    std::string last_;
};

} // namespace flash_sale
