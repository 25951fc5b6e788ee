#pragma once

#include <cstddef>
#include <vector>

namespace contention {

/// Watches one queue: the order of arrivals and of grants.
class arrivals {
public:
    std::size_t enter()
    {
        gone_.push_back(false);
        return gone_.size() - 1;
    }

    void let_in(std::size_t ticket)
    {
        if (ticket != first_)
            ++overtakings_;
        leave(ticket);
    }

    void leave(std::size_t ticket)
    {
        gone_[ticket] = true;
        while (first_ < gone_.size() && gone_[first_])
            ++first_;
    }

    std::size_t entered() const noexcept { return gone_.size(); }

    /// The number of grants while an earlier arrival still waited; 0 if the queue is FIFO.
    std::size_t overtakings() const noexcept { return overtakings_; }

private:
    std::vector<bool> gone_;
    std::size_t first_ = 0; // the first that still waits
    std::size_t overtakings_ = 0;
};

} // namespace contention
