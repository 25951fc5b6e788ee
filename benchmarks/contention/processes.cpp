#include "processes.hpp"

#include "support/child_process.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace contention {
namespace {

using namespace std::chrono_literals;
using holdfast::test::child_options;
using holdfast::test::child_process;
using holdfast::test::redis_server;
using calls = std::map<std::string, std::uint64_t>;

constexpr auto time_to_tell_all = 20ms; // the start time
constexpr auto stragglers = 50ms; // for requests of the last release that no process waited for

std::vector<std::string> command_line(const contender_settings& given)
{
    const auto number = [](const char* name, std::size_t value) {
        return "--" + std::string(name) + "=" + std::to_string(value);
    };
    std::vector<std::string> words{holdfast::test::this_program(), "--contender=" + given.resource,
        number("coroutines", given.coroutines), number("rounds", given.rounds),
        number("length", given.length_ms), number("think", given.think_us),
        number("hold", given.hold_us), number("limit", given.limit_s)};
    for (const auto& node : given.nodes)
        words.push_back("--node=" + node);
    if (given.fenced)
        words.emplace_back("--fenced");
    return words;
}

// Adds the lines "cmdstat_<name>:calls=<number>,…" of one node.
void add_calls(calls& all, const std::string& info)
{
    const std::string prefix = "cmdstat_", middle = ":calls=";
    std::istringstream lines(info);
    for (std::string line; std::getline(lines, line);) {
        const auto at = line.find(middle);
        if (!line.starts_with(prefix) || at == std::string::npos)
            continue;
        const auto name = line.substr(prefix.size(), at - prefix.size());
        if (name != "info")
            all[name] += std::stoull(line.substr(at + middle.size()));
    }
}

calls calls_of(std::vector<redis_server>& servers)
{
    calls all;
    for (auto& server : servers)
        add_calls(all, server.command({"INFO", "commandstats"}));
    return all;
}

calls difference(calls after, const calls& before)
{
    for (const auto& [name, number] : before)
        after[name] -= number;
    std::erase_if(after, [](const auto& entry) { return entry.second == 0; });
    return after;
}

void expect(child_process& process, const std::string& line)
{
    const auto got = process.read_line();
    if (got != line)
        throw std::runtime_error("a process has printed '" + got + "' instead of '" + line + "'");
}

template <class Number>
Number number_after(const std::string& name, child_process& process)
{
    std::istringstream line(process.read_line());
    std::string word;
    Number value{};
    if (!(line >> word >> value) || word != name)
        throw std::runtime_error("a process has not printed its " + name);
    return value;
}

void read_holds(child_process& process, std::size_t number, std::vector<hold>& all)
{
    for (auto line = process.read_line(); line != "end"; line = process.read_line()) {
        std::istringstream words(line);
        std::string word;
        hold h;
        h.process = number;
        if (!(words >> word >> h.begin >> h.end) || word != "hold")
            throw std::runtime_error("a process has not printed its holds");
        all.push_back(h);
    }
}

} // namespace

std::uint64_t contest_result::all_executed() const
{
    std::uint64_t all = 0;
    for (const auto& [name, number] : executed)
        all += number;
    return all;
}

contest_result contend(
    std::vector<redis_server>& servers, const contender_settings& given, std::size_t processes)
{
    const child_options both{.piped = child_options::pipes::input_and_output};
    std::deque<child_process> children;
    for (std::size_t i = 0; i < processes; ++i)
        children.emplace_back(command_line(given), both);
    for (auto& child : children)
        expect(child, "ready");

    const calls before = calls_of(servers);
    const auto start = std::chrono::steady_clock::now() + time_to_tell_all;
    const std::int64_t from = std::chrono::nanoseconds(start.time_since_epoch()).count();
    for (auto& child : children)
        child.write_line(std::to_string(from));
    for (auto& child : children)
        expect(child, "finished");
    std::this_thread::sleep_for(stragglers);

    contest_result r;
    r.processes = processes;
    r.executed = difference(calls_of(servers), before);
    std::vector<hold> holds;
    for (std::size_t i = 0; i < processes; ++i) {
        child_process& child = children[i];
        r.cpu_seconds += number_after<double>("cpu", child);
        r.sent += number_after<std::uint64_t>("commands", child);
        r.overtakings += number_after<std::size_t>("overtakings", child);
        r.unfinished += number_after<std::size_t>("unfinished", child);
        read_holds(child, i, holds);
        if (child.wait() != 0)
            throw std::runtime_error("a process has failed");
    }
    const auto length = std::chrono::nanoseconds(std::chrono::milliseconds(given.length_ms));
    const std::int64_t until = given.rounds == 0 ? from + length.count() : 0;
    r.order = put_in_order(std::move(holds), processes, from, until);
    return r;
}

} // namespace contention
