#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>

namespace contention {

/// Prints tables at once, saves the same figures as JSON at the end, and counts errors.
class report {
public:
    void describe(const std::string& redis_info); ///< prints and saves data of the machine

    /// Like printf, and flushes.
    [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);

    /// The figures of one part.
    boost::json::object& part(const std::string& name);

    /// Prints and counts violations of the promises of a lock; does nothing if `times` is 0.
    void blame(std::size_t times, const std::string& what);
    bool good() const noexcept { return errors_ == 0; }

    /// Throws if the file cannot be written.
    void save(const std::string& file);

private:
    boost::json::object all_;
    std::size_t errors_ = 0;
};

} // namespace contention
