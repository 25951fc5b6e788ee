#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace holdfast::sql {

// The order in which the addresses of a server are tried. A client library tries the next one only
// after an error, so an address that never answers takes all the time of a connection. After a try
// that has not succeeded, the next address comes first.
class address_order {
public:
    // A try begins.
    std::vector<std::string> begin(std::size_t server, std::span<const std::string> addresses)
    {
        std::vector<std::string> all(addresses.begin(), addresses.end());
        const std::size_t before = tries_[server]++;
        if (!all.empty())
            std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before % all.size()),
                all.end());
        return all;
    }
    // It has succeeded: the next one begins with the same address.
    void worked(std::size_t server) { --tries_[server]; }

private:
    std::map<std::size_t, std::size_t> tries_; // in vain, or under way
};

} // namespace holdfast::sql
