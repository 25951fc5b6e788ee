#pragma once

#include <cstddef>

namespace holdfast::io {

// A base class for objects that are created for each operation. Each thread keeps the memory of
// deleted objects, 72 KiB at most, for new ones. The derived class must have a virtual destructor,
// and no stricter alignment than the default of `new`.
struct recycled {
    static void* operator new(std::size_t size);
    static void operator delete(void* memory, std::size_t size) noexcept;
};

} // namespace holdfast::io
