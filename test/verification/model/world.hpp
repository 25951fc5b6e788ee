#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The state of the whole model. The numbers are small because millions of states are stored.
namespace holdfast::model {

inline constexpr std::size_t most_nodes = 4;
inline constexpr std::size_t clients = 2;
inline constexpr std::size_t most_attempts = 2; // of each client
inline constexpr unsigned block = 2;            // the token, and one for a transfer
inline constexpr unsigned largest_token = 31;

using number = std::uint8_t; // a token, or a counter

// An attempt by its number: two for each client, in the order in which it makes them.
using attempt = std::uint8_t;
inline constexpr std::size_t all_attempts = clients * most_attempts;

constexpr attempt attempt_of(std::size_t client, std::size_t index) noexcept
{
    return static_cast<attempt>(client * most_attempts + index);
}
constexpr std::size_t client_of(attempt a) noexcept
{
    return a / most_attempts;
}
constexpr std::size_t index_of(attempt a) noexcept
{
    return a % most_attempts;
}
constexpr std::uint8_t bit_of(std::size_t index) noexcept
{
    return static_cast<std::uint8_t>(1u << index);
}

// The state between one node and the present attempt of one client.
struct talk {
    number unread = 0; // the start of a grant whose answer is under way
    bool gone = false; // the granted key has expired since, by the client's clock
};

struct node {
    std::uint8_t lock = 0; // 0: free; otherwise 1 + attempt
    number counter = 0;
    std::uint8_t grants = 0; // requests under way: a bit for each attempt
    std::uint8_t raises = 0;
    std::uint8_t copies = 0; // second copies of GRANTs; see also reduction.cpp
    std::array<talk, clients> talks{};

    bool held_by(attempt a) const noexcept { return lock == a + 1; }
};

enum class phase : std::uint8_t { idle, asking, held, ended };

struct client {
    phase now = phase::idle;
    std::uint8_t index = 0;  // of the present attempt
    std::uint16_t round = 0; // its token_round, see round_book
    std::uint8_t before = 0; // attempts of the other client that had completed when this one began
    bool superseded = false; // the other client was granted a valid lease after this one
    std::uint8_t published = 0;
    std::uint8_t floored = 0;                     // attempts that came with a floor
    std::array<number, most_attempts> tokens{};   // published tokens
    std::array<number, most_attempts> raise_to{}; // while a WRITE-BACK is under way

    bool active() const noexcept { return now == phase::asking || now == phase::held; }
};

struct world {
    std::array<node, most_nodes> nodes{};
    std::array<client, clients> who{};
    bool forgot = false; // a node has lost its data

    bool is_present(attempt a) const noexcept
    {
        const client& c = who[client_of(a)];
        return c.active() && c.index == index_of(a);
    }
};

} // namespace holdfast::model
