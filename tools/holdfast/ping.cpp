#include "holdfast/ping.hpp"

#include "holdfast/reports.hpp"
#include "holdfast/statuses.hpp"
#include "holdfast/text.hpp"
#include "holdfast/usage.hpp"

#include <holdfast/locker.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

struct answer {
    node_stats node;
    std::optional<std::chrono::microseconds>
        connect_time;     // until it was connected, greeted and accepted
    bool is_idle = false; // another server of the database is used
};

// Else one of them at a time is used.
bool use_all_nodes(guarantee what)
{
    return what == guarantee::majority || what == guarantee::consensus;
}

// Any name: it is only read.
constexpr const char* probe = "holdfast:ping";

// Looks at the state of the nodes until each of them that is used is connected or has failed. Then
// asks the connected ones a question some times, to learn how quick they are.
class round {
public:
    // `done` is called at the end, perhaps by this constructor.
    round(asio::io_context& io, const backend& store, milliseconds timeout, unsigned count,
        std::function<void()> done)
        : done_(std::move(done)),
          locker_(io.get_executor(), store),
          timer_(io),
          begin_(steady::now()),
          timeout_(timeout),
          deadline_(begin_ + timeout),
          count_(count)
    {
        connect();
    }

    std::vector<answer> take() { return std::move(answers_); }
    locker_stats stats() const { return locker_.stats(); }

private:
    void connect()
    {
        const locker_stats stats = locker_.stats();
        answers_.resize(stats.nodes.size());
        bool open = false, any = false;
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            answer& a = answers_[i];
            any = any || stats.nodes[i].connected;
            if (a.node.connected || a.node.last_error)
                continue; // the first result counts
            a.node = stats.nodes[i];
            if (a.node.connected)
                a.connect_time =
                    std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begin_);
            open = open || (!a.node.connected && !a.node.last_error);
        }
        const bool one_is_enough = any && !use_all_nodes(stats.guarantee);
        if (open && !one_is_enough && steady::now() < deadline_)
            return look_later(&round::connect);
        for (answer& a : answers_)
            a.is_idle = one_is_enough && !a.node.connected && !a.node.last_error;
        deadline_ = steady::now() + timeout_;
        ask();
    }

    void ask()
    {
        const locker_stats stats = locker_.stats();
        bool answered = true;
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            node_stats& node = answers_[i].node;
            const node_stats& now = stats.nodes[i];
            if (!node.connected)
                continue;
            if (!now.connected && now.last_error)
                node = now; // the questions have shown that it cannot be used
            answered = answered && (now.latency.count() >= asked_ || !now.connected);
            node.latency = now.latency;
            node.commands = now.commands;
            node.timeouts = now.timeouts;
            node.errors = now.errors;
            node.restarts = now.restarts;
        }
        if (steady::now() >= deadline_ || (answered && asked_ == count_))
            return done_();
        if (answered) {
            ++asked_;
            locker_.inspect(probe, [](error_code, const resource_report&) {});
        }
        look_later(&round::ask);
    }

    void look_later(void (round::*what)())
    {
        timer_.expires_after(std::chrono::microseconds(500));
        timer_.async_wait([this, what](error_code) { (this->*what)(); });
    }

    const std::function<void()> done_;
    locker locker_;
    asio::steady_timer timer_;
    steady::time_point begin_;
    milliseconds timeout_;
    steady::time_point deadline_;
    const unsigned count_; // questions
    unsigned asked_ = 0;
    std::vector<answer> answers_;
};

std::string reason_of(const answer& a)
{
    if (a.node.last_error && a.node.reason.empty())
        return a.node.last_error.message();
    if (!a.node.connected && !a.node.last_error && !a.is_idle)
        return "no answer in time";
    return a.node.reason;
}

std::string line_of(const answer& a, std::size_t width, const console& out)
{
    const std::string reason = reason_of(a);
    const auto with = a.is_idle           ? console::colour::yellow
                      : !a.node.connected ? console::colour::red
                      : reason.empty()    ? console::colour::green
                                          : console::colour::yellow;
    std::string line = visible(a.node.address);
    line.resize(std::max(width, line.size()) + 2, ' ');
    if (a.is_idle)
        return line + out.painted("idle", with) + "    " + visible(reason);
    if (!a.node.connected)
        return line + out.painted("failed", with) + "  " + visible(reason);
    char time[40];
    std::snprintf(time, sizeof time, "  connected in %.1f ms",
        static_cast<double>(a.connect_time->count()) / 1'000);
    line += out.painted(reason.empty() ? "ok    " : "warns ", with) + time;
    if (const histogram& latency = a.node.latency; latency.count() != 0)
        line += ", answers in " + milliseconds_of(latency.quantile(0.5)) + " (p50), " +
                milliseconds_of(latency.quantile(0.99)) + " (p99)";
    if (a.node.errors != 0)
        line += ", " + std::to_string(a.node.errors) + " errors";
    if (a.node.restarts != 0)
        line += ", " + std::to_string(a.node.restarts) + " restarts";
    return line + (reason.empty() ? "" : "; " + visible(reason));
}

std::string basis_of(guarantee what)
{
    switch (what) {
    case guarantee::majority:
        return "a majority of independent nodes";
    case guarantee::consensus:
        return "a majority of servers that agree on each change";
    case guarantee::one_node:
        return "one node: nothing is granted while it is down";
    case guarantee::primary:
        return "the primary: a fail-over may lose locks";
    case guarantee::process:
    case guarantee::unspecified:
        break;
    }
    return std::string(name_of(what));
}

boost::json::object in_json(const answer& a)
{
    boost::json::object line = json_of(a.node);
    line.erase("reason"); // "warning" or "error" has it
    line["connect_us"] = a.connect_time ? boost::json::value(a.connect_time->count()) : nullptr;
    const std::string reason = without_credentials(reason_of(a));
    line[a.node.connected ? "warning" : "error"] =
        reason.empty() ? boost::json::value(nullptr) : boost::json::value(utf8(reason));
    return line;
}

} // namespace

void ping_command::add_to(CLI::App& app)
{
    parsed_ = app.add_subcommand("ping", "Connect to all nodes and report on each of them");
    parsed_->group("Commands");
    parsed_->formatter(std::make_shared<usage>("holdfast ping [OPTIONS]"));
    parsed_->add_option("--timeout", timeout_, "how long to wait for the nodes; default 3s")
        ->type_name("DURATION")
        ->check(duration_error);
    parsed_->add_option("--count", count_, "how many questions measure the latency; default 5")
        ->type_name("NUMBER");
    parsed_->footer(
        "A node that is connected has accepted the login, has the commands that locks need, and\n"
        "is an independent primary.\n\n"
        "Exit status: 0 if all nodes are connected; 1 if only a majority is; 2 if no majority is;\n"
        "125 if holdfast failed. In PostgreSQL and MariaDB one server is enough. For the options "
        "of the store see: holdfast --help\n\n"
        "Example:\n"
        "  holdfast ping --store redis://a.example,redis://b.example,redis://c.example");
}

bool ping_command::chosen() const
{
    return parsed_->parsed();
}

int ping_command::run(const invocation& with)
{
    asio::io_context io;
    std::deque<round> rounds;
    const std::vector<backend> stores = open_each_node(with.stores);
    std::size_t open = stores.size();
    for (const backend& each : stores)
        rounds.emplace_back(io, each, timeout_.value, count_, [&] {
            if (--open == 0)
                io.stop();
        });
    io.run();
    const locker_stats stats = rounds.front().stats();
    std::vector<answer> answers;
    for (round& each : rounds)
        std::ranges::move(each.take(), std::back_inserter(answers));

    std::size_t connected = 0, idle = 0, width = 0;
    for (const answer& a : answers) {
        connected += a.node.connected ? 1u : 0u;
        idle += a.is_idle ? 1u : 0u;
        width = std::max(width, a.node.address.size());
    }
    const bool all_are_used = answers.size() == 1 || use_all_nodes(stats.guarantee);
    const std::size_t majority = all_are_used ? answers.size() / 2 + 1 : 1;
    if (with.out.how().json) {
        boost::json::array nodes;
        for (const answer& a : answers)
            nodes.push_back(in_json(a));
        with.out.result(boost::json::object{{"nodes", std::move(nodes)}, {"connected", connected},
            {"majority", majority}, {"usable", connected >= majority}, {"store", utf8(stats.store)},
            {"guarantee", name_of(stats.guarantee)}});
    } else if (!with.out.how().quiet) {
        for (const answer& a : answers)
            with.out.result(line_of(a, width, with.out));
        with.out.result(
            std::to_string(connected) + " of " + std::to_string(answers.size()) +
            " nodes connected; " +
            (all_are_used ? "a majority is " + std::to_string(majority) : "one at a time is used"));
        with.out.result(
            "store: " + visible(stats.store) + "; exclusion rests on " + basis_of(stats.guarantee));
    }
    if (connected != 0 && connected + idle == answers.size())
        return status::good;
    return connected >= majority ? status::some_nodes_failed : status::no_majority;
}

} // namespace holdfast::cli
