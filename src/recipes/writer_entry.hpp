#pragma once

#include "recipes/errand.hpp"

#include <cstddef>

namespace holdfast::recipes {

// How a writer enters. It takes the gate, which readers must pass. Then no reader comes in, and it
// waits until those inside have left: until it has had the lock of each slot once. The gate alone
// keeps readers and writers out from then on.
class writer_entry final : public errand {
public:
    // The slots are the locks 0 to slots - 1; the gate is the next one.
    writer_entry(std::size_t slots, patience limit) noexcept : slots_(slots), limit_(limit) {}

    void begin(time_point now, steps& out) override;
    void granted(std::size_t lock, time_point now, const lease_view& leases, steps& out) override;
    void refused(std::size_t lock, error_code why, time_point now, steps& out) override;
    void woken(time_point, steps&) override {}

private:
    std::size_t gate() const noexcept { return slots_; }
    void ask(std::size_t lock, steps& out) const;

    const std::size_t slots_;
    const patience limit_;
    std::size_t left_ = 0; // slots that it has not had
};

} // namespace holdfast::recipes
