#pragma once

#include "core/ring.hpp"
#include "core/slot_map.hpp"
#include "io/delivery_lag.hpp"
#include "io/operations.hpp"

#include <cstdint>
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
    // How many were pushed, and how many popped, since the beginning.
    std::uint64_t pushed() const noexcept { return pushed_; }
    std::uint64_t popped() const noexcept { return popped_; }

    void push(std::unique_ptr<operation> op) noexcept
    {
        ++pushed_;
        operation* const added = op.release();
        added->next = nullptr;
        (empty() ? first_ : last_->next) = added;
        last_ = added;
    }

    std::unique_ptr<operation> pop() noexcept
    {
        ++popped_;
        return std::unique_ptr<operation>(std::exchange(first_, first_->next));
    }

private:
    std::uint64_t pushed_ = 0, popped_ = 0;
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
    // Visits the operations of a kind that are under way; a visit may finish the operation.
    template <class Visit>
    void for_each(operation_kind kind, const Visit& visit)
    {
        for (std::uint32_t i = 0; i < under_way_.capacity(); ++i) {
            if (operation* const op = find(under_way_.id_at(i), kind))
                visit(*op);
        }
    }

    bool has_finished() const noexcept
    {
        return !finished_.empty() || !refused_.empty() || !closed_.empty();
    }
    // The next for delivery: in turn one of the acquires that were not granted, and one of the
    // others. Under overload most acquires are refused, and a lease must not wait behind them.
    // Drains and closes come after all that had finished before them, but not after what finishes
    // later: callers that try again at once must not keep them back.
    // Precondition: has_finished().
    std::unique_ptr<operation> next_finished() noexcept;

    // For how long finished operations wait for delivery. To be called regularly.
    core::duration lag(core::time_point now) noexcept { return lag_.look(now); }

    // Removes and returns all operations, to be destroyed.
    std::vector<std::unique_ptr<operation>> take_all();

private:
    static bool waits_at_lease(const operation& op) noexcept;
    bool closed_is_next() const noexcept;
    operation_queue& queue_of(const operation& op, const error_code& ec) noexcept;
    void list_at_lease(operation& op);
    void unlist(operation& op) noexcept;

    core::slot_map<std::unique_ptr<operation>> under_way_;
    std::vector<operation*> at_lease_; // by the index of the lease: its latest operation
    operation_queue finished_;
    operation_queue refused_; // acquires that were not granted
    operation_queue closed_;  // drains and closes
    struct position {
        std::uint64_t finished, refused; // how many had been pushed
    };
    core::ring<position> closed_after_; // for each in `closed_`
    bool refused_is_next_ = false;
    delivery_lag lag_;
};

} // namespace holdfast::io
