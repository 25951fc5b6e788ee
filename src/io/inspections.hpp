#pragma once

#include "core/inspection.hpp"
#include "core/time.hpp"
#include "io/operation_table.hpp"
#include "io/operations.hpp"

#include <holdfast/inspect.hpp>

#include <string_view>

namespace holdfast::io {

using inspect_operation = operation_of<resource_report>;
using list_operation = operation_of<lock_list>;
using force_operation = operation_of<forced_release>;

// The users' questions about locks: passes them to the backend's inspector, and its results to the
// operations.
//
// All members are called under the engine's mutex.
class inspections {
public:
    // `inspector`: null if the backend has none. Both outlive it.
    inspections(core::inspector* inspector, operation_table& operations) noexcept
        : inspector_(inspector),
          operations_(operations)
    {}

    // Tells others which process this is.
    void introduce(core::time_point now);

    // False if the store cannot answer: then the operation has finished.
    bool begin(
        operation& op, core::inspection_task task, std::string_view name, core::time_point now);
    // The operation is cancelled.
    void forget(const operation& op) { inspector_->forget(op.id); }
    // Ends all with `closed`.
    void end();
    // Finishes the operations that have a result.
    void deliver();

private:
    void finish(core::inspection_result&& result);

    core::inspector* const inspector_;
    operation_table& operations_;
};

} // namespace holdfast::io
