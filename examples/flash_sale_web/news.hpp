#pragma once

#include <boost/json/array.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace flash_sale_web {

namespace json = boost::json;

/// What has happened, for the page: the last entries.
class news {
public:
    /// How an entry is shown.
    enum class kind { info, fault, repair, harm };

    void add(kind what, std::string text);

    /// The entries after number `after`, as JSON. Their numbers begin with 1.
    json::array since(std::uint64_t after) const;
    /// The number of the last entry; 0 if there is none.
    std::uint64_t last() const { return last_; }

private:
    struct entry {
        std::uint64_t number;
        std::chrono::system_clock::time_point time;
        kind what;
        std::string text;
    };
    static constexpr std::size_t most = 200;

    std::deque<entry> entries_;
    std::uint64_t last_ = 0;
};

} // namespace flash_sale_web
