#include "verification/model/supply.hpp"

#include "redis/quorum/majority.hpp"

#include <algorithm>
#include <deque>
#include <tuple>
#include <unordered_map>

namespace holdfast::model::supply {

namespace {

constexpr unsigned most_losses = 2, largest_token = 63;
constexpr std::array everything{
    variant{.name = "right", .what = "the correct protocol", .wrong = false},
    variant{.name = "grants_without_bound",
        .what = "a node grants any value of its counter",
        .how{.granted_within = 30, .raised_within = 30}},
    variant{.name = "raised_without_bound",
        .what = "a node accepts a write-back of any value",
        .how{.raised_within = 30}},
    variant{.name = "bound_of_a_quarantine",
        .what = "a node stores values up to a quarantine ahead of its clock",
        .how{.granted_within = 4, .raised_within = 4}},
    variant{.name = "set_back_too_far",
        .what = "a clock is set back by half a quarantine",
        .how{.set_back = 2}},
    variant{.name = "no_floor",
        .what = "a node without data starts at its clock, without a quarantine",
        .how{.quarantine = 0, .floor = false}},
    variant{.name = "short_lived_counters",
        .what = "counters expire sooner than the time they may be ahead",
        .how{.kept = 1}},
};

struct wish {
    unsigned floor = 0, block = 1;
};

// The model of fenced_acquire_script. Returns 0 if the node does not grant.
unsigned grant(node& n, const wish& w, const rules& how)
{
    if (n.clock < n.from)
        return 0;
    const unsigned usual = n.counter != 0 ? n.counter + 1u : n.clock * in_tick;
    const unsigned start = std::max({usual, std::min(w.floor, n.clock + how.ahead) * in_tick,
        how.floor ? n.from * in_tick : 0u});
    const unsigned last = start + w.block - 1;
    if (last >= (n.clock + how.granted_within + 1) * in_tick || last > largest_token)
        return 0;
    n.counter = static_cast<std::uint8_t>(last);
    n.written = n.clock;
    return start;
}

// The model of write_back_script.
redis::write_back_answer write_back(node& n, std::uint64_t to, const rules& how)
{
    if (to >= (n.clock + how.raised_within + 1) * in_tick || to > largest_token)
        return redis::write_back_answer::denied;
    n.counter = static_cast<std::uint8_t>(to);
    n.written = n.clock;
    return redis::write_back_answer::ok;
}

// Runs a round over the nodes of a mask. Returns the token, or 0.
unsigned acquire(world& w, unsigned mask, const wish& wanted, const rules& how)
{
    redis::token_round round(nodes, wanted.block);
    for (std::size_t i = 0; i < nodes; ++i) {
        const unsigned start = (mask >> i & 1u) != 0 ? grant(w.all[i], wanted, how) : 0;
        if (start != 0)
            round.record_grant(i, start);
        else
            round.record(i, redis::vote::failed);
    }
    while (const auto r = round.next_write_back())
        round.record_write_back(r->node, write_back(w.all[r->node], r->to, how));
    return round.judge() == redis::verdict::acquired ? static_cast<unsigned>(round.token()) : 0;
}

std::uint64_t packed(world w)
{
    std::sort(w.all.begin(), w.all.end(), [](const node& a, const node& b) {
        return std::tie(a.clock, a.counter, a.from, a.written) <
               std::tie(b.clock, b.counter, b.from, b.written);
    });
    std::uint64_t p = w.published;
    p = p << 2 | w.losses;
    p = p << 1 | (w.set_back ? 1u : 0u);
    for (const node& n : w.all) {
        p = p << 4 | n.clock;
        p = p << 6 | n.counter;
        p = p << 4 | n.from;
        p = p << 4 | n.written;
    }
    return p;
}

world unpacked(std::uint64_t p)
{
    const auto take = [&p](unsigned bits) {
        const auto n = static_cast<std::uint8_t>(p & ((1u << bits) - 1));
        p >>= bits;
        return n;
    };
    world w;
    for (std::size_t i = nodes; i-- > 0;) {
        w.all[i].written = take(4);
        w.all[i].from = take(4);
        w.all[i].counter = take(6);
        w.all[i].clock = take(4);
    }
    w.set_back = take(1) != 0;
    w.losses = take(2);
    w.published = take(6);
    return w;
}

std::string in_words(const node& n)
{
    return "clock " + std::to_string(n.clock) + " counter " +
           (n.counter == 0 ? "-" : std::to_string(n.counter)) +
           (n.clock < n.from ? " in quarantine" : "");
}

// Visits all possible next steps, always in the same order. `visit` gets the next world, whether a
// token was too small, and a function that describes the step.
template <class Visit>
void happenings_at(
    const world& w, std::size_t i, const rules& how, unsigned last_tick, const Visit& visit)
{
    const node& n = w.all[i];
    const auto change = [&](std::string_view what, const auto& by) {
        world next = w;
        by(next, next.all[i]);
        visit(next, false, [&] { return std::string(what) + " at the node with " + in_words(n); });
    };
    if (n.clock < last_tick)
        change("a tick", [](world&, node& m) { ++m.clock; });
    if (!w.set_back && n.clock >= how.set_back)
        change("the clock is set back", [&](world& next, node& m) {
            m.clock = static_cast<std::uint8_t>(m.clock - how.set_back);
            next.set_back = true;
        });
    if (w.losses < most_losses)
        change("all data is lost", [&](world& next, node& m) {
            m.counter = m.written = 0;
            m.from = static_cast<std::uint8_t>(m.clock + how.quarantine);
            ++next.losses;
        });
    if (n.counter != 0 && n.clock >= n.written + how.kept)
        change("the counter expires", [](world&, node& m) { m.counter = m.written = 0; });
}

template <class Visit>
void happenings(const world& w, const rules& how, unsigned last_tick, const Visit& visit)
{
    for (std::size_t i = 0; i < nodes; ++i)
        happenings_at(w, i, how, last_tick, visit);
    const auto [earliest, latest] = std::minmax_element(
        w.all.begin(), w.all.end(), [](const node& a, const node& b) { return a.clock < b.clock; });
    for (const unsigned mask : {0b011u, 0b101u, 0b110u, 0b111u}) {
        for (const unsigned floor : {0u, earliest->clock + how.ahead, latest->clock + how.ahead}) {
            for (unsigned block = 1; block <= in_tick; ++block) {
                world next = w;
                const unsigned token = acquire(next, mask, {floor, block}, how);
                const unsigned last = token == 0 ? 0 : token + block - 1;
                next.published = static_cast<std::uint8_t>(std::max<unsigned>(w.published, last));
                visit(next, token != 0 && token <= w.published, [&] {
                    return token == 0
                               ? std::string("no lease")
                               : "tokens " + std::to_string(token) + " to " + std::to_string(last) +
                                     ", after " + std::to_string(w.published);
                });
            }
        }
    }
}

// The step by which a world was reached.
struct origin {
    std::uint64_t before = 0;
    std::uint32_t which = 0; // the index of the step
};

std::string in_words(const origin& o, const rules& how, unsigned last_tick)
{
    std::uint32_t at = 0;
    std::string words;
    happenings(unpacked(o.before), how, last_tick, [&](const world&, bool, const auto& put) {
        if (at++ == o.which)
            words = put();
    });
    return words;
}

} // namespace

std::span<const variant> variants() noexcept
{
    return everything;
}

finding explore(const rules& how, unsigned last_tick)
{
    std::unordered_map<std::uint64_t, origin> seen;
    std::deque<std::uint64_t> open;
    finding f;
    // All nodes have the same counter, which corresponds to their clocks.
    world first;
    for (node& n : first.all)
        n = {.clock = 2, .counter = 2 * in_tick, .from = 0, .written = 2};
    first.published = 2 * in_tick;
    const std::uint64_t begin = packed(first);
    seen.emplace(begin, origin{});
    open.push_back(begin);
    while (!open.empty() && f.story.empty()) {
        const std::uint64_t at = open.front();
        open.pop_front();
        origin next_origin{at, 0};
        happenings(
            unpacked(at), how, last_tick, [&](const world& next, bool too_small, const auto& put) {
                if (too_small && f.story.empty())
                    f.story.push_back(put());
                const std::uint64_t key = packed(next);
                if (seen.try_emplace(key, next_origin).second)
                    open.push_back(key);
                ++next_origin.which;
            });
        for (std::uint64_t back = at; !f.story.empty() && back != begin; back = seen[back].before)
            f.story.insert(f.story.begin(), in_words(seen[back], how, last_tick));
    }
    f.complete = open.empty();
    f.states = seen.size();
    return f;
}

} // namespace holdfast::model::supply
