#pragma once

#include "redis/quorum/ballot_round.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::test {

// The ballots of an attempt, in the order in which an attempt uses them.
struct ballots : redis::ballot_round {
    explicit ballots(std::size_t nodes) : ballot_round(nodes, 100), count(nodes) {}

    // The request for the key, and the ballot behind it.
    void ask(std::size_t node)
    {
        ask_for_key(node);
        send(node);
    }
    void ask_all()
    {
        for (std::size_t i = 0; i < count; ++i)
            ask(i);
    }

    // The node grants the key, and accepts or refuses the ballot with that number.
    void accept(std::size_t node, std::uint8_t with_number = 1)
    {
        record_key(node);
        record_answer(node, with_number, redis::ballot_answer::accepted);
    }
    void refuse(std::size_t node, std::uint8_t with_number = 1)
    {
        record_key(node);
        record_answer(node, with_number, redis::ballot_answer::refused);
    }

    // Sends the current ballot to all nodes that have to be sent it, and names them.
    std::string send_due()
    {
        std::string all;
        while (const auto node = next()) {
            send(*node);
            all += (all.empty() ? "" : " ") + std::to_string(*node);
        }
        return all;
    }

    std::size_t count;
};

} // namespace holdfast::test
