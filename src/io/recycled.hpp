#pragma once

#include <cstddef>

namespace holdfast::io {

// A base of what comes and goes with each operation: each thread keeps memory of those that are
// gone, 72 KiB at most, for the next. The destructor of the derived class must be virtual, and its
// alignment none that `new` does not give anyway.
struct recycled {
    static void* operator new(std::size_t size);
    static void operator delete(void* memory, std::size_t size) noexcept;
};

} // namespace holdfast::io
