#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace holdfast::fuzz {

// Aborts the process if a promise is broken. libFuzzer then keeps the input.
inline void check(
    bool kept, const char* promise, std::source_location where = std::source_location::current())
{
    if (kept)
        return;
    std::fprintf(
        stderr, "%s:%u: broken promise: %s\n", where.file_name(), unsigned(where.line()), promise);
    std::abort();
}

} // namespace holdfast::fuzz
