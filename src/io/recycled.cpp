#include "io/recycled.hpp"

#include <array>
#include <cstdint>
#include <new>

#if defined(__has_feature)
#define HOLDFAST_HAS_FEATURE(name) __has_feature(name)
#else
#define HOLDFAST_HAS_FEATURE(name) 0
#endif

namespace holdfast::io {

namespace {

// Not with sanitizers: they must be able to detect a use after free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    HOLDFAST_HAS_FEATURE(address_sanitizer) || HOLDFAST_HAS_FEATURE(thread_sanitizer)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

constexpr std::size_t step = 32;      // sizes are rounded up to multiples of this
constexpr std::size_t sizes = 8;      // the number of block sizes that are kept
constexpr std::size_t most_kept = 64; // blocks of each size

struct block {
    block* next;
};

// Has no destructor: static objects of the program may still delete memory after thread-local
// objects are gone.
struct kept_blocks {
    std::array<block*, sizes> first;
    std::array<std::uint8_t, sizes> count;
    bool over; // the thread is ending: keep no more blocks
};

thread_local constinit kept_blocks kept{};

// Frees the kept blocks when the thread ends.
struct keeper {
    keeper() noexcept {}
    ~keeper()
    {
        kept.over = true;
        for (std::size_t i = 0; i < sizes; ++i) {
            while (block* const b = kept.first[i]) {
                kept.first[i] = b->next;
                ::operator delete(b);
            }
        }
    }
};

constexpr std::size_t index_of(std::size_t size) noexcept
{
    return (size - 1) / step;
}

} // namespace

void* recycled::operator new(std::size_t size)
{
    const std::size_t i = index_of(size);
    if (!keeps || i >= sizes)
        return ::operator new(size);
    if (block* const b = kept.first[i]) {
        kept.first[i] = b->next;
        --kept.count[i];
        return b;
    }
    return ::operator new((i + 1) * step);
}

void recycled::operator delete(void* memory, std::size_t size) noexcept
{
    const std::size_t i = index_of(size);
    if (!keeps || i >= sizes)
        return ::operator delete(memory);
    if (kept.over || kept.count[i] == most_kept)
        return ::operator delete(memory);
    [[maybe_unused]] thread_local const keeper gives_back; // constructed at the first use
    kept.first[i] = ::new (memory) block{kept.first[i]};
    ++kept.count[i];
}

} // namespace holdfast::io
