#pragma once

#include "redis/inspection/client_text.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace holdfast::redis {

// The client records of lockers, as nodes tell them. The record that most nodes tell is the one
// that counts: a single node could make one up.
class told_clients {
public:
    // Precondition: `needed` is not 0, and always the same: so many nodes confirm a record.
    void add(std::uint32_t id, client_details told, std::size_t needed);

    // How many lockers have a confirmed record.
    std::size_t confirmed() const noexcept { return confirmed_; }

    struct record {
        client_details details{};
        std::size_t nodes = 0; // that have told it
    };
    // The first told among those that most nodes tell; null if there is none. Valid until the next
    // change.
    const record* find(std::uint32_t id) const;

private:
    std::unordered_map<std::uint32_t, std::vector<record>> records_;
    std::size_t confirmed_ = 0;
};

} // namespace holdfast::redis
