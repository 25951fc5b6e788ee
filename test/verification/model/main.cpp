// Explores all behaviours of a fenced lock within a small scope: breadth first, each state once.
// The rounds are the library's own, redis::ballot_round over redis::vote_round. Nodes, messages and
// clients are modelled.
//
// A node has a key and a register. A client makes one attempt: it sends SET and behind it a ballot
// to all nodes, on a connection of its own to each. The connection keeps the order of its requests,
// and of its replies. Both take any time; what never arrives is lost. If the round needs it, the
// client sends a larger ballot. It may ask a node again that has refused the key. After the grant
// it may send ballots to spare nodes. Clients take any ballot that the scope permits, not only
// those of a clock, so a smaller ballot may be used later.
//
// In the scopes with `each_step`, each request that a node executes and each reply that a client
// reads is a step. In the others a client's request has its effect and its answer in one step; a
// request without an effect is no step. That finds all states in which answers matter, because a
// late answer only makes a client wait, which it may do in any case.
//
// Keys: see `expiry` in variant.hpp. With adversarial expiry only tokens are judged: they are
// unique, and follow the real time of requests, whatever keys and clocks do. With honest expiry a
// client knows when a key that it was granted ends; then tokens also follow the order of leases,
// and leases exclude each other. With explicit time, nodes lose all data, by FLUSHALL under open
// connections or by a restart: their registers then begin at the clock of the node, which may be
// behind, plus the quarantine. Clients choose no ballot further than `ahead` beyond the time. Rates
// of clocks are honest there.
//
// States that differ only in the names of nodes or attempts are one state. Not modelled: deletions
// (a key may vanish at any time, or an attempt that has ended leaves none), nodes that are excluded
// (the client only counts fewer), the queue, local transfers beyond the block of two tokens, more
// than one resource for a register (others only use up ballots), and drifts of clocks within a
// lease (drift is subtracted by the library).
//
// controls/run runs all scopes, all wrong variants and the controls.
#include "verification/model/explorer.hpp"
#include "verification/model/story.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

namespace model = holdfast::model;
namespace po = boost::program_options;

namespace {

struct wishes {
    std::string scope, variant;
    std::size_t most_states = 0;
    bool wrong = false, brief = false;
};

const model::variant& variant_named(const std::string& name)
{
    for (const model::variant& v : model::variants()) {
        if (v.name == name)
            return v;
    }
    throw std::invalid_argument("no such variant: " + name);
}

int run(const wishes& w)
{
    model::variant v;
    if (!w.variant.empty())
        v = variant_named(w.variant);
    const bool wrong = w.wrong || v.breaks != model::none;
    const unsigned wanted = v.breaks != model::none ? v.breaks : unsigned{model::anything};
    std::string scope = w.scope;
    if (scope.empty())
        scope = v.within.empty() ? model::scopes().front().name : v.within;
    const model::scope& s = model::scope_named(scope);
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
        ("list", "list the wrong variants of the protocol")
        ("scopes", "list the scopes")
        ("scope", po::value(&w.scope), "the scope; default: that of the variant, or the first one")
        ("variant", po::value(&w.variant), "explore a wrong variant")
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
            std::cout << v.name << '\t' << v.what << '\n';
        return 0;
    }
    if (given.contains("scopes")) {
        for (const model::scope& s : model::scopes())
            std::cout << s.name << '\t' << s.what << '\n';
        return 0;
    }
    w.wrong = given.contains("wrong");
    w.brief = given.contains("brief");
    return run(w);
} catch (const std::exception& e) {
    std::cerr << "model: " << e.what() << '\n';
    return 2;
}
