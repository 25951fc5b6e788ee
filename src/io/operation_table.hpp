#pragma once

#include "core/slot_map.hpp"
#include "io/delivery_lag.hpp"
#include "io/operations.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::io {

// A queue of operations: an intrusive list that allocates nothing.
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
    operation* last_ = nullptr; // not valid while the queue is empty
};

// The users' operations: those under way, found by their id or by their lease, and the finished
// ones, which wait for delivery. Not thread-safe.
class operation_table {
public:
    core::slot_id add(std::unique_ptr<operation> op);

    operation* find(core::slot_id id) noexcept;
    operation* find(core::slot_id id, operation_kind kind) noexcept;

    // Moves an operation to the finished ones, with this result.
    void finish(operation& op, error_code ec);
    // Finishes all operations that wait for the loss or for the extension of a lease, or only for
    // the extension.
    void finish_at_lease(core::slot_id lease, bool only_extensions, error_code ec);
    void finish_all(operation_kind kind, error_code ec);

    bool has_finished() const noexcept
    {
        return !finished_.empty() || !refused_.empty() || !closed_.empty();
    }
    // The next for delivery: in turn one of the acquires that were not granted, and one of the
    // others. Under overload most acquires are refused, and a lease must not wait behind them. A
    // close comes last.
    // Precondition: has_finished().
    std::unique_ptr<operation> next_finished() noexcept;

    // For how long finished operations wait for delivery. To be called regularly.
    core::duration lag(core::time_point now) noexcept { return lag_.look(now); }

    // Removes and returns all operations, to be destroyed.
    std::vector<std::unique_ptr<operation>> take_all();

private:
    static bool waits_at_lease(const operation& op) noexcept;
    operation_queue& queue_of(const operation& op, const error_code& ec) noexcept;
    void list_at_lease(operation& op);
    void unlist(operation& op) noexcept;

    core::slot_map<std::unique_ptr<operation>> under_way_;
    std::vector<operation*> at_lease_; // by the index of the lease: its latest operation
    operation_queue finished_;
    operation_queue refused_; // acquires that were not granted
    operation_queue closed_;
    bool refused_is_next_ = false;
    delivery_lag lag_;
};

} // namespace holdfast::io
