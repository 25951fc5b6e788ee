// Explores all behaviours of a fenced lock within a small scope: breadth first, each state once.
// The rounds are the library's own, redis::token_round over redis::vote_round. Nodes, messages and
// clients are modelled.
//
// Nodes run GRANT, WRITE-BACK, EXTEND and DEL, each of them atomic; a key may expire at any time.
// The tokens of a grant come in blocks of two: the second is for a transfer within the process.
// Clients make a fixed number of attempts each, one after the other. They may give up or release at
// any time, and begin the next attempt while messages of the last one are still under way.
//
// Messages are a multiset: they may overtake each other on one connection as well as between
// connections, and take any time. A message that never arrives is lost. GRANT and WRITE-BACK are
// executed at most once. DEL may arrive any number of times after the end of the attempt, and
// EXTEND any number of times after its success. The answer to a grant takes any time, too. Refusals
// and answers to WRITE-BACK are read at once: to read a refusal late means that the client does not
// give up yet, which it may do in any case; to read a success late means that the lease completes
// late, and less is required of such a lease.
//
// There is no time. Clocks do not matter for these properties: a token belongs to one lease, tokens
// follow the order of leases, and the register refuses stale writes. Two holders are judged by
// correct clocks: a client counts a key as its own until it expires.
//
// States that differ only in the names of nodes are one state, and so are states that differ only
// in the names of clients with the same number of attempts. If only tokens are judged
// (--tokens-only), there is much less to explore: see reduction.cpp.
//
// controls/run has the scopes of the test. The default scope: three nodes with equal counters, two
// attempts of one client and one of the other.

#include "verification/model/explorer.hpp"
#include "verification/model/story.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace model = holdfast::model;
namespace po = boost::program_options;

namespace {

struct wishes {
    std::string variant;
    std::size_t nodes = 3, most_states = 0;
    unsigned floor = 0;
    std::vector<unsigned> attempts, counters;
    bool tokens_only = false, wrong = false, brief = false;
};

const model::variant& variant_named(const std::string& name)
{
    for (const model::variant& v : model::variants()) {
        if (v.name == name)
            return v;
    }
    throw std::invalid_argument("no such variant: " + name);
}

model::scope scope_of(const model::variant& v, const wishes& w)
{
    model::scope s = v.within;
    if (w.nodes < 1 || w.nodes > model::most_nodes)
        throw std::invalid_argument("nodes: one to four");
    s.nodes = w.nodes;
    s.floor = static_cast<model::number>(std::min(w.floor, 8u));
    if (!w.attempts.empty()) {
        if (w.attempts.size() != model::clients || std::ranges::max(w.attempts) > 2)
            throw std::invalid_argument("attempts: two numbers up to 2");
        std::ranges::copy(w.attempts, s.attempts.begin());
    }
    s.tokens_only = w.tokens_only;
    if (s.tokens_only && w.variant != "right")
        throw std::invalid_argument("--tokens-only requires the variant right");
    if (!w.counters.empty())
        s.counters = 0;
    for (const unsigned c : w.counters) {
        if (c > 8)
            throw std::invalid_argument("counters: up to 8");
        s.counters |= 1u << c;
    }
    return s;
}

int run(const wishes& w)
{
    const model::variant& v = variant_named(w.variant);
    const model::scope s = scope_of(v, w);
    const bool wrong = w.wrong || v.breaks != model::none;
    const unsigned wanted = v.breaks != model::none ? v.breaks : unsigned{model::anything};
    const auto begun = std::chrono::steady_clock::now();
    model::round_book rounds(s.nodes);
    const model::finding f =
        model::explore(model::protocol(s, v.how, rounds), w.most_states, wanted);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (w.brief)
        model::print_row(std::cout, f, took);
    else
        model::print(std::cout, f, took);
    return wrong ? (f.violated != model::none ? 0 : 1) : (f.complete ? 0 : 1);
}

} // namespace

int main(int argc, char** argv)
try {
    wishes w;
    po::options_description options(
        "Explores all behaviours of a fenced lock within a small scope.\n"
        "Exit status 0: there is no violation and all states were explored; or, for a wrong\n"
        "variant, there is a violation.\n\nOptions");
    // clang-format off
    options.add_options()
        ("help", "show this text")
        ("list", "list the variants of the protocol")
        ("variant", po::value(&w.variant)->default_value("right"),
            "the variant to explore, see --list")
        ("nodes", po::value(&w.nodes)->default_value(3), "number of nodes, up to 4")
        ("attempts", po::value(&w.attempts)->multitoken(),
            "attempts of each of the two clients, up to 2; default: as the variant needs")
        ("counters", po::value(&w.counters)->multitoken(),
            "each node begins with one of these counters")
        ("floor", po::value(&w.floor)->default_value(0),
            "each attempt has this floor or none")
        ("tokens-only", "do not judge the validity of leases: there is much less to explore")
        ("most-states", po::value(&w.most_states)->default_value(60'000'000),
            "stop after this many states")
        ("wrong", "this program is known to be wrong: exit status 0 if it is caught")
        ("brief", "print one row of a table");
    // clang-format on
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.contains("help")) {
        std::cout << options;
        return 0;
    }
    if (given.contains("list")) {
        for (const model::variant& v : model::variants())
            std::cout << v.name << '\t' << v.what << '\t'
                      << (v.breaks != model::none ? "wrong" : "right") << '\n';
        return 0;
    }
    w.tokens_only = given.contains("tokens-only");
    w.wrong = given.contains("wrong");
    w.brief = given.contains("brief");
    return run(w);
} catch (const std::exception& e) {
    std::cerr << "model: " << e.what() << '\n';
    return 2;
}
