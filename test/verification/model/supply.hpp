#pragma once

#include "redis/quorum/token_round.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Tokens and clocks: nodes grant, store and lose tokens while their clocks run at any rate. The
// rounds are the library's own. Each round is one step, because protocol.hpp explores the steps
// within a round.
namespace holdfast::model::supply {

inline constexpr std::size_t nodes = 3;
inline constexpr unsigned in_tick = 2; // tokens (really 1,024 in a ms), and the largest block

// In ticks of a clock.
struct rules {
    unsigned quarantine = 4;     // of a node that has lost its data
    unsigned ahead = 1;          // a node follows a requested floor this far ahead of its clock
    unsigned granted_within = 2; // a node grants tokens this far ahead of its clock
    unsigned raised_within = 2;  // a node accepts a write-back this far ahead of its clock
    unsigned kept = 4;           // lifetime of an unused counter
    unsigned set_back = 1;       // of one clock only, in one step
    bool floor = true; // after a loss of data start at its end of quarantine, else at the clock
};

struct variant {
    std::string_view name;
    std::string_view what;
    rules how{};
    bool wrong = true;
};
// The first one is the correct protocol.
std::span<const variant> variants() noexcept;

struct node {
    std::uint8_t clock = 0;
    std::uint8_t counter = 0; // 0: none
    std::uint8_t from = 0;    // the end of its quarantine, by its clock
    std::uint8_t written = 0; // when the counter was stored, by its clock
};

struct world {
    std::array<node, nodes> all{};
    std::uint8_t published = 0; // the largest token
    std::uint8_t losses = 0;    // number of data losses so far
    bool set_back = false;
};

struct finding {
    bool complete = false; // all reachable states were explored
    std::size_t states = 0;
    std::vector<std::string> story; // a shortest sequence of steps to a token that is too small
};

// Explores breadth first: clocks run up to `last_tick`, data is lost up to twice.
finding explore(const rules& how, unsigned last_tick);

} // namespace holdfast::model::supply
