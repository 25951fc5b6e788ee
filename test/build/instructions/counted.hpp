#pragma once

#include "core/connection.hpp"
#include "core/locker_core.hpp"

#include <optional>
#include <string_view>

// The calls into the library whose instructions are counted. callgrind counts only inside these
// functions, which it finds by their names. They never call each other.
namespace counted {

holdfast::core::slot_id acquire(holdfast::core::locker_core& locker, std::uint64_t tag,
    std::string_view resource, const holdfast::core::lease_params& terms,
    holdfast::core::time_point now);
void release(holdfast::core::locker_core& locker, holdfast::core::slot_id lease, std::uint64_t tag,
    holdfast::core::time_point now);
void wake(holdfast::core::locker_core& locker, holdfast::core::time_point now);
holdfast::core::time_point wake_at(const holdfast::core::locker_core& locker);
std::optional<holdfast::core::effect> next_effect(holdfast::core::locker_core& locker);

std::string_view output(holdfast::core::connection& node);
void written(holdfast::core::connection& node, std::size_t bytes, holdfast::core::time_point now);
void receive(
    holdfast::core::connection& node, std::string_view bytes, holdfast::core::time_point now);

} // namespace counted

// Sets the count to 0, after the warm-up.
void begin_to_count();
