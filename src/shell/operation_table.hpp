#pragma once

#include "core/slots.hpp"
#include "shell/operations.hpp"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::shell {

// The users' operations: those under way, found by their ids or by the lease that they are about,
// and those that are finished and wait for their delivery. Not thread-safe.
class operation_table {
public:
    using batch = std::vector<std::unique_ptr<operation>>;

    core::slot_id add(std::unique_ptr<operation> op);

    operation* find(core::slot_id id) noexcept;
    operation* find(core::slot_id id, operation::what kind) noexcept;

    // Takes an operation out of those under way; it is to be delivered with this result.
    void finish(operation& op, error_code ec);
    // All that wait for the loss of a lease, or for its extension; or for the latter alone.
    void finish_at_lease(core::slot_id lease, bool only_extensions, error_code ec);
    void finish_all(operation::what kind, error_code ec);

    bool has_finished() const noexcept { return !finished_.empty(); }
    // Swaps the finished ones into an empty batch, whose memory is used for the next.
    void take_finished(batch& into) noexcept { finished_.swap(into); }
    // Takes back what could not be delivered: it is the first to be delivered next time.
    void put_back(batch::iterator first, batch::iterator last);

    // Gives up everything, for destruction.
    batch take_all();

private:
    static bool waits_at_lease(const operation& op) noexcept;
    void list_at_lease(operation& op);
    void unlist(operation& op) noexcept;

    core::slots<std::unique_ptr<operation>> under_way_;
    std::vector<operation*> at_lease_; // by the index of the lease: the latest about it
    batch finished_;
};

} // namespace holdfast::shell
