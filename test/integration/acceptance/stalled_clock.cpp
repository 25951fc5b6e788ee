// Replaces the system's clock: the program's own definition of clock_gettime() takes precedence
// over that of the C library.
#include "integration/acceptance/stalled_clock.hpp"

#include <dlfcn.h>

#include <ctime>

namespace {

thread_local bool stalls = false;

void stall(clockid_t clock)
{
    if (!stalls || clock != CLOCK_BOOTTIME)
        return;
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000'000};
    ::nanosleep(&moment, nullptr);
}

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept
{
    static const auto system =
        reinterpret_cast<decltype(&::clock_gettime)>(::dlsym(RTLD_NEXT, "clock_gettime"));
    stall(clock);
    const int result = system(clock, now);
    stall(clock);
    return result;
}

namespace holdfast::test {

stalled_clock::stalled_clock()
{
    stalls = true;
}

stalled_clock::~stalled_clock()
{
    stalls = false;
}

} // namespace holdfast::test
