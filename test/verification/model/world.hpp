#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// The state of the whole model. The numbers are small because millions of states are stored.
namespace holdfast::model {

inline constexpr std::size_t most_nodes = 5;
inline constexpr std::size_t most_attempts = 4;
inline constexpr std::size_t most_proposals = 3; // of an attempt
inline constexpr unsigned block = 2;             // tokens of a ballot: one, and one for a transfer
inline constexpr unsigned largest_ballot = 15;

using small = std::uint8_t;   // a ballot or a time; a ballot of 0: none
using attempt = std::uint8_t; // by its number

constexpr std::uint8_t bit_of(std::size_t index) noexcept
{
    return static_cast<std::uint8_t>(1u << index);
}

// Small numbers other than 0, first in, first out.
template <unsigned Bits>
class fifo {
public:
    bool empty() const noexcept { return all == 0; }
    unsigned front() const noexcept { return all & mask; }
    unsigned at(unsigned i) const noexcept { return all >> (i * Bits) & mask; }
    void push(unsigned what) noexcept
    {
        unsigned at_bit = 0;
        while ((all >> at_bit & mask) != 0)
            at_bit += Bits;
        all |= what << at_bit;
    }
    unsigned pop() noexcept
    {
        const unsigned what = front();
        all >>= Bits;
        return what;
    }
    bool has(unsigned what) const noexcept
    {
        for (std::uint32_t rest = all; rest != 0; rest >>= Bits) {
            if ((rest & mask) == what)
                return true;
        }
        return false;
    }

    std::uint32_t all = 0;

private:
    static constexpr unsigned mask = (1u << Bits) - 1;
};

// A request under way. SET asks for the key; the others are ballots by their number, 1, 2, ….
inline constexpr unsigned set_request = 1;
constexpr unsigned ballot_request(unsigned number) noexcept
{
    return 1 + number;
}

// A reply under way.
enum reply : unsigned { key_granted = 1, key_refused = 2, first_ballot_reply = 3 };
constexpr unsigned ballot_reply(unsigned number, bool accepted) noexcept
{
    return first_ballot_reply + 2 * (number - 1) + (accepted ? 0 : 1);
}
constexpr unsigned number_in(unsigned reply) noexcept
{
    return (reply - first_ballot_reply) / 2 + 1;
}
constexpr bool accepted_in(unsigned reply) noexcept
{
    return (reply - first_ballot_reply) % 2 == 0;
}

// The connection between a node and a client during one attempt, and what the client knows.
struct link {
    fifo<3> requests;
    fifo<4> replies;
    bool gone = false;     // the key has expired, by the client's clock
    bool repaired = false; // the key was lost, and set again: it proves nothing before `until`
    bool stray = false;    // a SET of an old connection may still arrive
    bool stamped = false;  // it has accepted a ballot; kept only for a wrong variant
    small until = 0;       // the client's deadline for the key, if time is explicit
};

struct node {
    std::uint8_t lock = 0; // 0: free; otherwise 1 + attempt
    small until = 0;       // the key expires then, if time is explicit
    small register_ = 0;   // the largest ballot that it has accepted
    bool empty = false;    // it has no registers

    std::array<link, most_attempts> links{};

    bool held_by(attempt a) const noexcept { return lock == a + 1; }
};

enum class phase : std::uint8_t { idle, asking, held, ended };

struct client {
    phase now = phase::idle;
    std::uint32_t round = 0;                     // its ballot_round, see round_book
    std::array<small, most_proposals> ballots{}; // those that are under way, by their number
    small least = 0;  // the largest ballot of a lease when this attempt began
    small begun = 0;  // the time, if it is explicit, while a SET is under way
    small ballot = 0; // of the lease

    bool active() const noexcept { return now == phase::asking || now == phase::held; }
};

struct world {
    std::array<node, most_nodes> nodes{};
    std::array<client, most_attempts> who{};
    std::uint16_t published = 0; // the ballots of all leases, a bit each
    small time = 0;
    small losses = 0;  // of data, so far
    small further = 0; // ballots beyond the first of each attempt, so far
    small cuts = 0;    // connections that broke before a SET was executed, so far
    small asks = 0;    // requests for keys beyond the first of each attempt, so far
    small store = 0;   // the largest token that the guarded store has accepted, as its ballot
    small older = 0;   // writes with this ballot or a smaller one are older than one in the store
};

// The largest ballot in a set of them; 0 if it is empty.
constexpr small largest_of(std::uint16_t ballots) noexcept
{
    return static_cast<small>(ballots == 0 ? 0 : std::bit_width(ballots) - 1);
}

} // namespace holdfast::model
