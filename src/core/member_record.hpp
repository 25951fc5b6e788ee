#pragma once

#include <holdfast/error.hpp>
#include <holdfast/stats.hpp>

#include <string>
#include <utility>

namespace holdfast::core {

// What is told about one member: its counters, and what is wrong with it.
class member_record {
public:
    explicit member_record(std::string name) { stats_.address = std::move(name); }

    node_stats& stats() noexcept { return stats_; }
    // Why it failed when it was last used; none if it has worked since.
    errc trouble() const noexcept { return trouble_; }

    void failed(errc why, error_code last, std::string reason)
    {
        trouble_ = why;
        stats_.last_error = last;
        stats_.reason = std::move(reason);
    }
    void worked() noexcept
    {
        trouble_ = errc{};
        stats_.last_error.clear();
        stats_.reason.clear();
    }
    node_stats told(bool is_connected, bool is_used) const
    {
        node_stats told = stats_;
        told.name = told.address;
        told.connected = is_connected;
        if (told.reason.empty() && !is_connected)
            told.reason = is_used ? "connecting" : "not used now";
        return told;
    }

private:
    node_stats stats_;
    errc trouble_{};
};

} // namespace holdfast::core
