// Loaded into a redis-server (LD_PRELOAD): its wall clock is off by as many seconds as a file says,
// which the test changes while the server runs. What measures durations goes on as it is.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

// Nothing here may allocate: the allocator asks for the time as well.
std::int64_t offset()
{
    static const volatile std::int64_t* shared = nullptr;
    if (shared == nullptr) {
        const char* const name = std::getenv("HOLDFAST_STEPPED_CLOCK");
        const int file = name == nullptr ? -1 : ::open(name, O_RDONLY | O_CLOEXEC);
        if (file == -1)
            return 0;
        void* const mapped = ::mmap(nullptr, sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
        ::close(file);
        if (mapped == MAP_FAILED)
            return 0;
        shared = static_cast<const volatile std::int64_t*>(mapped);
    }
    return *shared;
}

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept
{
    const auto result = ::syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset();
    return static_cast<int>(result);
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
