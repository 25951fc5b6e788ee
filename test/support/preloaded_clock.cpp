// Loaded into a redis-server (LD_PRELOAD): a test sets its wall clock while the server runs, see
// node_clock.hpp. Clocks that measure durations are not changed.
#include "support/node_clock_settings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

using holdfast::test::node_clock_settings;

// Nothing here may allocate, because the allocator reads the time too.
const volatile node_clock_settings* settings()
{
    static const volatile node_clock_settings* shared = nullptr;
    if (shared == nullptr) {
        const char* const name = std::getenv(node_clock_settings::variable);
        const int file = name == nullptr ? -1 : ::open(name, O_RDONLY | O_CLOEXEC);
        if (file == -1)
            return nullptr;
        void* const mapped = ::mmap(nullptr, sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
        ::close(file);
        if (mapped != MAP_FAILED)
            shared = static_cast<const volatile node_clock_settings*>(mapped);
    }
    return shared;
}

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept
{
    const auto result = ::syscall(SYS_clock_gettime, clock, now);
    const auto* const set = settings();
    if (set == nullptr || result != 0 ||
        (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return static_cast<int>(result);
    if (const std::int64_t stands = set->stands_at_ms; stands != 0)
        *now = {.tv_sec = stands / 1000, .tv_nsec = stands % 1000 * 1'000'000};
    else
        now->tv_sec += set->off_by_seconds;
    return 0;
}

extern "C" int gettimeofday(timeval* now, void*) noexcept
{
    timespec exact{};
    const int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

extern "C" time_t time(time_t* now) noexcept
{
    timespec exact{};
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != nullptr)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
