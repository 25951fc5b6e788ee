#pragma once

#include "redis/token_round.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Tokens and clocks: what nodes grant, store and lose while their clocks run as they like. Rounds
// are those that ship; each is played in one step, since what happens in the middle of one is
// explored elsewhere (protocol.hpp).
namespace holdfast::model::supply {

inline constexpr std::size_t nodes = 3;
inline constexpr unsigned in_tick = 2; // tokens, as 1,024 in a millisecond; the largest block, too

// In ticks of a clock.
struct rules {
    unsigned quarantine = 4;     // after which a node that has lost its data grants
    unsigned ahead = 1;          // so far before its clock a node follows a wish
    unsigned granted_within = 2; // of its clock: what a node grants
    unsigned raised_within = 2;  // the same of what it is written_back to
    unsigned kept = 4;           // a counter that nobody uses
    unsigned set_back = 1;       // in one step, and one clock only
    bool floor = true;           // after the loss of data; otherwise the clock alone
};

struct variant {
    std::string_view name;
    std::string_view what;
    rules how{};
    bool wrong = true;
};
// The first one is right.
std::span<const variant> variants() noexcept;

struct node {
    std::uint8_t clock = 0;
    std::uint8_t counter = 0; // 0: none
    std::uint8_t from = 0;    // it grants nothing before its clock shows that
    std::uint8_t written = 0; // what it showed when the counter was stored
};

struct world {
    std::array<node, nodes> all{};
    std::uint8_t published = 0; // the largest token
    std::uint8_t losses = 0;    // of data, so far
    bool set_back = false;
};

struct finding {
    bool complete = false; // nothing is left that has not been looked at
    std::size_t states = 0;
    std::vector<std::string> story; // how a token came to be too small: the shortest
};

// Breadth first: clocks run up to `last_tick`, data is lost up to twice.
finding explore(const rules& how, unsigned last_tick);

} // namespace holdfast::model::supply
