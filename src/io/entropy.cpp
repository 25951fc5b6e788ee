#include "io/entropy.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <pthread.h>
#include <sys/random.h>

namespace holdfast::io {

namespace {

// The number of forks between the first process and this one.
std::atomic<unsigned> forks{0};

bool watch_forks() noexcept
{
    static const int done = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
    return done == 0;
}

bool fetch(std::span<std::byte> out) noexcept
{
    while (!out.empty()) {
        const ssize_t got = ::getrandom(out.data(), out.size(), 0);
        if (got > 0)
            out = out.subspan(static_cast<std::size_t>(got));
        else if (errno != EINTR)
            return false;
    }
    return true;
}

} // namespace

bool os_entropy::fill(std::span<std::byte> out) noexcept
{
    if (!watch_forks())
        return false;
    if (const unsigned process = forks.load(std::memory_order_relaxed); process != process_) {
        process_ = process;
        left_ = 0;
    }
    while (!out.empty()) {
        if (left_ == 0) {
            if (!fetch(fetched_))
                return false;
            left_ = fetched_.size();
        }
        const std::size_t n = std::min(left_, out.size());
        std::byte* const from = fetched_.data() + (left_ - n);
        std::memcpy(out.data(), from, n);
        std::memset(from, 0, n); // used bits may be owner tokens, which are secret
        left_ -= n;
        out = out.subspan(n);
    }
    return true;
}

std::uint64_t os_entropy::seed()
{
    std::uint64_t value = 0;
    if (!fill(std::as_writable_bytes(std::span(&value, 1))))
        throw std::system_error(errno, std::generic_category(), "holdfast: no random bits");
    return value;
}

} // namespace holdfast::io
