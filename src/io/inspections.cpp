#include "io/inspections.hpp"

#include "io/clock.hpp"
#include "io/process_identity.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace holdfast::io {

void inspections::introduce(core::time_point now)
{
    if (inspector_ != nullptr)
        inspector_->introduce(identify_process(), now);
}

bool inspections::begin(
    operation& op, core::inspection_task task, std::string_view name, core::time_point now)
{
    if (inspector_ == nullptr) {
        operations_.finish(op, errc::unreachable);
        return false;
    }
    const auto wall = std::chrono::floor<std::chrono::seconds>(wall_clock()).count();
    inspector_->begin({.task = task, .tag = op.id, .name = name, .wall = wall}, now);
    return true;
}

// None goes on: a release that is reported as refused must not take effect later.
void inspections::end()
{
    for (const auto kind :
        {operation_kind::inspect, operation_kind::list, operation_kind::force_release})
        operations_.for_each(kind, [this](operation& op) {
            inspector_->forget(op.id);
            operations_.finish(op, errc::closed);
        });
}

void inspections::deliver()
{
    while (inspector_ != nullptr) {
        auto result = inspector_->next_result();
        if (!result)
            break;
        finish(std::move(*result));
    }
}

void inspections::finish(core::inspection_result&& result)
{
    operation* const op = operations_.find(result.tag);
    if (op == nullptr)
        return;
    const error_code why = result.reason == errc{} ? error_code() : make_error_code(result.reason);
    switch (op->kind) {
    case operation_kind::inspect:
        static_cast<inspect_operation&>(*op).set_result(
            std::get<resource_report>(std::move(result.found)));
        break;
    case operation_kind::list:
        static_cast<list_operation&>(*op).set_result(std::get<lock_list>(std::move(result.found)));
        break;
    case operation_kind::force_release:
        static_cast<force_operation&>(*op).set_result(
            std::get<forced_release>(std::move(result.found)));
        break;
    default:
        return;
    }
    operations_.finish(*op, why);
}

} // namespace holdfast::io
