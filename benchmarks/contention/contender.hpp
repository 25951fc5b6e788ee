#pragma once

#include "settings.hpp"

namespace contention {

/// One of the contending processes. It prints "ready" once it is connected and reads the start
/// time. When all its coroutines have had their turns, it prints "finished", the lines "cpu",
/// "commands", "overtakings" and "unfinished" with one number each, "hold" with begin and end for
/// each hold, and "end". Returns the exit status.
int run_contender(const contender_settings& given);

} // namespace contention
