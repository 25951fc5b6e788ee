#pragma once

#include "core/slot_map.hpp"
#include "io/operations.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::io {

// Operations in the order in which they came. It links them, and allocates nothing.
class operation_queue {
public:
    operation_queue() = default;
    operation_queue(const operation_queue&) = delete;
    operation_queue& operator=(const operation_queue&) = delete;
    ~operation_queue()
    {
        while (!empty())
            pop();
    }

    bool empty() const noexcept { return first_ == nullptr; }

    void push(std::unique_ptr<operation> op) noexcept
    {
        operation* const added = op.release();
        added->next = nullptr;
        (empty() ? first_ : last_->next) = added;
        last_ = added;
    }

    std::unique_ptr<operation> pop() noexcept
    {
        return std::unique_ptr<operation>(std::exchange(first_, first_->next));
    }

private:
    operation* first_ = nullptr;
    operation* last_ = nullptr; // nothing, where there is no first
};

// The users' operations: those under way, found by their ids or by the lease that they are about,
// and those that are finished and wait for their delivery. Not thread-safe.
class operation_table {
public:
    core::slot_id add(std::unique_ptr<operation> op);

    operation* find(core::slot_id id) noexcept;
    operation* find(core::slot_id id, operation_kind kind) noexcept;

    // Takes an operation out of those under way; it is to be delivered with this result.
    void finish(operation& op, error_code ec);
    // All that wait for the loss of a lease, or for its extension; or for the latter alone.
    void finish_at_lease(core::slot_id lease, bool only_extensions, error_code ec);
    void finish_all(operation_kind kind, error_code ec);

    bool has_finished() const noexcept { return !finished_.empty(); }
    std::unique_ptr<operation> next_finished() noexcept { return finished_.pop(); }

    // Gives up everything, for destruction.
    std::vector<std::unique_ptr<operation>> take_all();

private:
    static bool waits_at_lease(const operation& op) noexcept;
    void list_at_lease(operation& op);
    void unlist(operation& op) noexcept;

    core::slot_map<std::unique_ptr<operation>> under_way_;
    std::vector<operation*> at_lease_; // by the index of the lease: the latest about it
    operation_queue finished_;
};

} // namespace holdfast::io
