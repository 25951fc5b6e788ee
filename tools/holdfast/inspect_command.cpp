#include "holdfast/inspect_command.hpp"

#include "holdfast/observer.hpp"
#include "holdfast/reports.hpp"
#include "holdfast/statuses.hpp"
#include "holdfast/text.hpp"
#include "holdfast/usage.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace holdfast::cli {

namespace {

using colour = console::colour;
using std::chrono::system_clock;

std::string since(const lock_owner& owner)
{
    return owner.foreign ? std::string() : age_of(owner.since, system_clock::now()) + " ago";
}

std::vector<table::cell> row_of(const node_report& node)
{
    const bool has_key = node.key == key_state::owner || node.key == key_state::other;
    std::string more = has_key ? time_left(node.ttl_left, node.without_ttl) : std::string();
    if (node.error)
        more = visible(node.error.message());
    else if (node.fence)
        more += (more.empty() ? "" : ", ") + ("tokens up to " + std::to_string(*node.fence));
    const auto in = node.key == key_state::owner    ? colour::green
                    : node.key == key_state::absent ? colour::plain
                    : node.key == key_state::other  ? colour::yellow
                                                    : colour::red;
    return {{"  " + visible(node.address)}, {std::string(name_of(node.key)), in}, {more}};
}

void print(const resource_report& report, const console& out)
{
    table facts;
    std::string state = report.held ? "held" : report.having == 0 ? "free" : "not held";
    if (report.having != 0 && !report.nodes.empty())
        state += ", at " + std::to_string(report.having) + " of " +
                 std::to_string(report.nodes.size()) + " nodes";
    facts.add({{"lock"}, {visible(report.resource)}});
    facts.add({{"state"}, {state, report.held ? colour::yellow : colour::green}});
    if (report.owner) {
        facts.add({{"owner"}, {in_words(*report.owner, report.held)}});
        if (!report.owner->foreign)
            facts.add({{"since"}, {since(*report.owner)}});
        facts.add({{"token"}, {visible(report.owner->mark) + "..."}});
    }
    if (report.held)
        facts.add({{"ttl left"}, {time_left(report.ttl_left, report.without_ttl),
                                     report.without_ttl ? colour::red : colour::plain}});
    if (report.fence)
        facts.add({{"fencing"}, {"tokens up to " + std::to_string(*report.fence)}});
    for (const std::string& line : facts.lines(out))
        out.result(line);

    table nodes;
    for (const node_report& each : report.nodes)
        nodes.add(row_of(each));
    if (!report.nodes.empty())
        out.result("nodes");
    for (const std::string& line : nodes.lines(out))
        out.result(line);

    if (!report.queue || report.queue->length == 0)
        return;
    out.result("queue of " + std::to_string(report.queue->length) + " at " +
               visible(report.queue->address));
    table queue;
    for (const lock_owner& each : report.queue->waiters)
        queue.add({{"  " + in_words(each)}, {since(each)}});
    for (const std::string& line : queue.lines(out))
        out.result(line);
}

} // namespace

void inspect_command::add_to(CLI::App& app)
{
    parsed_ = app.add_subcommand("inspect", "Show who holds a lock and who waits for it");
    parsed_->group("Commands");
    parsed_->formatter(std::make_shared<usage>("holdfast inspect [OPTIONS] NAME"));
    parsed_->add_option("NAME", name_, "name of the lock")->required();
    parsed_->footer(
        "An owner is marked (unconfirmed) if fewer than a majority of the nodes tell it,\n"
        "or the node that keeps the queue does not show the key.\n"
        "With --quiet nothing is printed: only the exit status tells.\n\n"
        "Exit status: 0 if the lock is held; 1 if it is not; 125 if that is not known\n"
        "or holdfast failed. For the options of the store see: holdfast --help\n\n"
        "Example:\n"
        "  holdfast inspect nightly-backup");
}

bool inspect_command::chosen() const
{
    return parsed_->parsed();
}

int inspect_command::run(const invocation& with)
{
    const resource what(name_);
    observer nodes(with.stores);
    const resource_report report = nodes.inspect(what);
    if (with.out.how().json)
        with.out.result(json_of(report));
    else if (!with.out.how().quiet)
        print(report, with.out);
    return report.held ? status::good : status::not_held;
}

} // namespace holdfast::cli
