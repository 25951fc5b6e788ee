// Explores all behaviours of a protocol within a small scope: see explorer.hpp, and the systems.
// controls/run runs all scopes, all wrong variants and the controls.
#include "verification/model/baton/baton_system.hpp"
#include "verification/model/explorer.hpp"
#include "verification/model/fenced_system.hpp"
#include "verification/model/report.hpp"

#include <boost/program_options.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

namespace model = holdfast::model;
namespace po = boost::program_options;

namespace {

struct wishes {
    std::string protocol, scope, variant;
    std::size_t most_states = 0;
    bool list = false, scopes = false, wrong = false, brief = false;
};

template <class Named>
const Named& find(std::span<const Named> among, const std::string& name)
{
    for (const Named& each : among) {
        if (each.name == name)
            return each;
    }
    throw std::invalid_argument("no such scope or variant: " + name);
}

template <class Named>
int list(std::span<const Named> all)
{
    for (const Named& each : all)
        std::cout << each.name << '\t' << each.what << '\n';
    return 0;
}

template <class System>
int run(const wishes& w)
{
    if (w.list)
        return list(System::variants());
    if (w.scopes)
        return list(System::scopes());
    typename System::variant v;
    if (!w.variant.empty())
        v = find(System::variants(), w.variant);
    std::string scope = w.scope;
    if (scope.empty())
        scope = v.within.empty() ? System::scopes().front().name : v.within;
    const bool wrong = w.wrong || v.breaks != model::no_violation;
    const unsigned wanted = v.breaks != model::no_violation ? v.breaks : ~0u;
    const auto begun = std::chrono::steady_clock::now();
    System system(find(System::scopes(), scope), v.how);
    const model::finding f = model::explorer(system).explore(w.most_states, wanted);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const auto print = w.brief ? model::print_row : model::print;
    print(std::cout, f, System::names_of(f.violated), took);
    return wrong ? (f.violated != model::no_violation ? 0 : 1) : (f.complete ? 0 : 1);
}

int run_protocol(const wishes& w)
{
    if (w.protocol == "fenced")
        return run<model::fenced_system>(w);
    if (w.protocol == "baton")
        return run<model::baton_system>(w);
    throw std::invalid_argument("no such protocol: " + w.protocol);
}

} // namespace

int main(int argc, char** argv)
try {
    wishes w;
    po::options_description options(
        "Explores all behaviours of a protocol within a small scope.\n"
        "Exit status 0: there is no violation and all states were explored; or, for a wrong\n"
        "variant, there is a violation.\n\nOptions");
    // clang-format off
    options.add_options()
        ("help", "show this text")
        ("protocol", po::value(&w.protocol)->default_value("fenced"),
            "fenced: the fenced mode; baton: leases that go from process to process")
        ("list", po::bool_switch(&w.list), "list the wrong variants of the protocol")
        ("scopes", po::bool_switch(&w.scopes), "list the scopes")
        ("scope", po::value(&w.scope), "the scope; default: that of the variant, or the first one")
        ("variant", po::value(&w.variant), "explore a wrong variant")
        ("most-states", po::value(&w.most_states)->default_value(60'000'000),
            "stop after this many states")
        ("wrong", po::bool_switch(&w.wrong),
            "this program is known to be wrong: exit status 0 if it is caught")
        ("brief", po::bool_switch(&w.brief), "print one row of a table");
    // clang-format on
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.contains("help")) {
        std::cout << options;
        return 0;
    }
    return run_protocol(w);
} catch (const std::exception& e) {
    std::cerr << "model: " << e.what() << '\n';
    return 2;
}
