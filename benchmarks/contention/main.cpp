// Measures contention for one resource: by coroutines in one process, and by processes. Prints
// tables; see --help. The servers are real, temporary and on loopback. The exit status is 1 if two
// holders had the resource at once, if a waiter overtook an earlier one of the same process, or if
// a waiter did not get the resource. A bad figure is not an error.
//
// main.cpp           the command line
// local_parts.cpp    the output for one process
// local.cpp          coroutines of one process that take turns
// parking.cpp        coroutines that only wait and use memory (in its own process)
// process_parts.cpp  the output for several processes
// processes.cpp      starts the processes and reads their results
// contender.cpp      one of these processes
// timeline.cpp       puts the holds of all processes in order

#include "contender.hpp"
#include "parking.hpp"
#include "parts.hpp"

#include <boost/program_options.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace {

namespace po = boost::program_options;
using contention::settings;

// The options. Some are for the user, some for child processes, some for both.
struct command_line {
    settings wanted;
    contention::contender_settings contender;
    contention::parking_settings parking;
    std::size_t length = 1'000, limit = 60, handoff_time = 9'000, think = 0, hold = 0;
};

template <class Value>
po::typed_value<Value>* given(Value& variable)
{
    return po::value(&variable)->default_value(variable)->value_name("N");
}

po::options_description visible_options(command_line& line)
{
    settings& s = line.wanted;
    po::options_description options("contention [local] [memory] [processes] [crowd]");
    options.add_options()("help", "show this text");
    options.add_options()("nodes", given(s.nodes), "number of Redis servers");
    options.add_options()("repetitions", given(s.repetitions), "of each run, interleaved");
    options.add_options()("think", given(line.think), "microseconds from a release to an acquire");
    options.add_options()("hold", given(line.hold), "microseconds of work under the lock");
    options.add_options()("limit", given(line.limit), "seconds that a coroutine may wait");
    options.add_options()("waiters", given(s.waiters), "local, memory: coroutines");
    options.add_options()("rounds", given(s.rounds), "local, crowd: turns of each coroutine");
    options.add_options()(
        "reverse", po::bool_switch(&s.reverse), "local: measure the ways in the reverse order");
    options.add_options()("handoff-limit", given(s.handoff_limit),
        "local: handoff_limit of the additional run with a larger budget");
    options.add_options()("handoff-time", given(line.handoff_time),
        "local: handoff_time of that run, in milliseconds");
    options.add_options()("processes",
        po::value(&s.processes)
            ->multitoken()
            ->value_name("N ...")
            ->default_value(s.processes, "1 2 4 8 16"),
        "processes: numbers of processes, one run each");
    options.add_options()("length", given(line.length), "processes: milliseconds of each run");
    options.add_options()(
        "crowd-processes", given(s.crowd_processes), "crowd: number of processes");
    options.add_options()("coroutines", given(s.coroutines), "crowd: coroutines in each process");
    options.add_options()(
        "fenced", po::bool_switch(&s.fenced), "processes, crowd: with fencing tokens");
    options.add_options()(
        "no-lock", "processes: run without the lock, which must be detected (exit status 1)");
    options.add_options()(
        "json", po::value(&s.json)->value_name("FILE"), "write the figures to this file");
    return options;
}

// The options with which the program starts child processes.
po::options_description hidden_options(command_line& line)
{
    po::options_description options;
    options.add_options()("part", po::value(&line.wanted.parts));
    options.add_options()("contender", po::value(&line.contender.resource));
    options.add_options()("parking", po::value(&line.parking.what));
    options.add_options()("node", po::value(&line.contender.nodes));
    return options;
}

void check(bool good, const char* rule)
{
    if (!good)
        throw std::invalid_argument(rule);
}

void check(const settings& s)
{
    for (const auto& part : s.parts)
        check(part == "local" || part == "memory" || part == "processes" || part == "crowd",
            "the parts are local, memory, processes and crowd");
    check(s.nodes >= 1 && s.nodes <= 15, "--nodes must be 1 to 15");
    check(s.repetitions >= 1, "--repetitions must be at least 1");
    check(s.waiters >= 1 && s.rounds >= 1 && s.coroutines >= 1,
        "--waiters, --rounds and --coroutines must be at least 1");
    check(s.length.count() >= 1 && s.limit.count() >= 1, "--length and --limit must be at least 1");
    for (const auto processes : s.processes)
        check(processes >= 1 && processes <= 64, "--processes must be 1 to 64");
    check(s.crowd_processes >= 1 && s.crowd_processes <= 64, "--crowd-processes must be 1 to 64");
}

int measure(const settings& wanted)
{
    std::signal(SIGPIPE, SIG_IGN); // writes to an ended process fail with an error instead
    auto nodes = holdfast::test::start_servers(wanted.nodes);
    contention::report out;
    out.describe(nodes.front().command({"INFO", "server"}));
    for (const auto& part : wanted.parts) {
        if (part == "local")
            measure_local(nodes, wanted, out);
        else if (part == "memory")
            measure_memory(nodes, wanted, out);
        else if (part == "processes")
            measure_processes(nodes, wanted, out);
        else
            measure_crowd(nodes, wanted, out);
    }
    if (!wanted.json.empty())
        out.save(wanted.json);
    return out.good() ? 0 : 1;
}

int run_contender(command_line& line)
{
    auto& contender = line.contender;
    contender.coroutines = line.wanted.coroutines;
    contender.rounds = line.wanted.rounds;
    contender.length_ms = line.length;
    contender.think_us = line.think;
    contender.hold_us = line.hold;
    contender.limit_s = line.limit;
    contender.fenced = line.wanted.fenced;
    return contention::run_contender(contender);
}

int run_parking(command_line& line)
{
    line.parking.nodes = line.contender.nodes;
    line.parking.count = line.wanted.waiters;
    return contention::run_parking(line.parking);
}

int run(int argc, char** argv)
{
    command_line line;
    const auto visible = visible_options(line);
    po::options_description all;
    all.add(visible).add(hidden_options(line));
    po::positional_options_description parts;
    parts.add("part", -1);
    po::variables_map seen;
    po::store(po::command_line_parser(argc, argv).options(all).positional(parts).run(), seen);
    po::notify(seen);
    if (seen.count("help") != 0) {
        std::cout << visible;
        return 0;
    }
    if (seen.count("contender") != 0)
        return run_contender(line);
    if (seen.count("parking") != 0)
        return run_parking(line);

    settings& wanted = line.wanted;
    wanted.lock = seen.count("no-lock") == 0;
    wanted.length = std::chrono::milliseconds(line.length);
    wanted.limit = std::chrono::seconds(line.limit);
    wanted.handoff_time = std::chrono::milliseconds(line.handoff_time);
    wanted.think = std::chrono::microseconds(line.think);
    wanted.hold = std::chrono::microseconds(line.hold);
    check(wanted);
    return measure(wanted);
}

} // namespace

int main(int argc, char** argv)
try {
    return run(argc, argv);
} catch (const std::exception& e) {
    std::cerr << "contention: " << e.what() << '\n';
    return 2;
}
