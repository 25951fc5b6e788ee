#include "usage.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace benchmark {

double cpu_seconds_now()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double resident_bytes_now()
{
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages >> pages; // the second number is the resident size
    return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double peak_resident_bytes()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) * 1024;
}

} // namespace benchmark
