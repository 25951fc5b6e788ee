#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>

namespace contention {

/// Tables for the reader as they come, the same for programs at the end, and what went wrong.
class report {
public:
    void describe(const std::string& redis_info); ///< the machine

    /// As printf, at once.
    [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);

    /// Where the figures of one part go.
    boost::json::object& part(const std::string& name);

    /// Prints and remembers a breach of what a lock promises; nothing if there were none of it.
    void blame(std::size_t times, const std::string& what);
    bool good() const noexcept { return errors_ == 0; }

    /// Throws if the file cannot be written.
    void save(const std::string& file);

private:
    boost::json::object all_;
    std::size_t errors_ = 0;
};

} // namespace contention
