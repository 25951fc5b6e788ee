#include "report.hpp"

#include "machine.hpp"

#include <boost/json/serialize.hpp>

#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace contention {

void report::describe(const std::string& redis_info)
{
    auto& machine = part("machine");
    const char* separator = "";
    for (const auto& [name, value] : benchmark::describe_machine(redis_info)) {
        print("%s%s: %s", separator, name.c_str(), value.c_str());
        machine[name] = value;
        separator = ", ";
    }
    print("\n");
}

void report::print(const char* format, ...)
{
    std::va_list values;
    va_start(values, format);
    std::vprintf(format, values);
    va_end(values);
    std::fflush(stdout);
}

boost::json::object& report::part(const std::string& name)
{
    auto& value = all_[name];
    if (!value.is_object())
        value.emplace_object();
    return value.get_object();
}

void report::blame(std::size_t times, const std::string& what)
{
    if (times == 0)
        return;
    errors_ += times;
    print("  ERROR: %zu %s\n", times, what.c_str());
}

void report::save(const std::string& file)
{
    part("errors")["number"] = errors_;
    std::ofstream out(file);
    out << boost::json::serialize(all_) << '\n';
    if (!out.flush())
        throw std::runtime_error("cannot write " + file);
}

} // namespace contention
