#include "machine.hpp"

#include <boost/version.hpp>

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace benchmark {
namespace {

// The value on the first line that starts with `name`.
std::string value_of(std::istream& text, const std::string& name)
{
    for (std::string line; std::getline(text, line);) {
        if (!line.starts_with(name))
            continue;
        const auto begin = line.find_first_not_of(" \t:", name.size());
        const auto end = line.find_last_not_of(" \r");
        return begin == std::string::npos ? std::string() : line.substr(begin, end - begin + 1);
    }
    return "unknown";
}

std::string load()
{
    double averages[1] = {};
    if (::getloadavg(averages, 1) != 1)
        return "unknown";
    std::ostringstream text;
    text << averages[0];
    return text.str();
}

} // namespace

std::vector<std::pair<std::string, std::string>> describe_machine(const std::string& redis_info)
{
    std::ifstream cpu("/proc/cpuinfo");
    std::istringstream redis(redis_info);
    utsname system{};
    ::uname(&system);
    return {{"cpu", value_of(cpu, "model name")},
        {"cores", std::to_string(std::thread::hardware_concurrency())},
        {"kernel", std::string(system.sysname) + " " + system.release},
        {"redis", value_of(redis, "redis_version")}, {"compiler", __VERSION__},
        {"boost", BOOST_LIB_VERSION}, {"load before", load()}};
}

} // namespace benchmark
