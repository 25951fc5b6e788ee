#include "holdfast/list.hpp"

#include "holdfast/observer.hpp"
#include "holdfast/reports.hpp"
#include "holdfast/statuses.hpp"
#include "holdfast/usage.hpp"

#include <boost/json/array.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace holdfast::cli {

namespace {

using colour = console::colour;

void print(const lock_list& found, const console& out)
{
    const auto now = std::chrono::system_clock::now();
    table locks;
    locks.add({{"NAME"}, {"STATE"}, {"TTL LEFT"}, {"AGE"}, {"OWNER"}});
    for (const listed_lock& each : found.locks) {
        const bool known = each.owner && !each.owner->foreign;
        locks.add({{visible(each.resource)},
            {each.held ? "held" : "not held", each.held ? colour::plain : colour::yellow},
            {time_left(each.ttl_left, each.without_ttl),
                each.without_ttl ? colour::red : colour::plain},
            {known ? age_of(each.owner->since, now) : "-"},
            {each.owner ? in_words(*each.owner, each.held) : "-"}});
    }
    if (!found.locks.empty()) {
        for (const std::string& line : locks.lines(out))
            out.result(line);
    }
}

} // namespace

void list_command::add_to(CLI::App& app)
{
    parsed_ = app.add_subcommand("list", "List locks with their owners");
    parsed_->group("Commands");
    parsed_->formatter(std::make_shared<usage>("holdfast list [OPTIONS] [PREFIX]"));
    parsed_->add_option("PREFIX", prefix_, "only locks whose names begin with this");
    parsed_->footer(
        "Without --fenced, locks of other clients are not listed; \"holdfast inspect\" shows\n"
        "them.\n\n"
        "Exit status: 0 if the list is complete; 1 if locks may be missing from it, because\n"
        "some nodes did not answer to the end, or there are more than 20,000; 125 if holdfast\n"
        "failed. For the options of the store see: holdfast --help\n\n"
        "Example:\n"
        "  holdfast list stock:");
}

bool list_command::chosen() const
{
    return parsed_->parsed();
}

int list_command::run(const invocation& with)
{
    observer nodes(with.stores);
    const lock_list found = nodes.list(prefix_);
    if (with.out.how().json) {
        boost::json::array locks;
        for (const listed_lock& each : found.locks)
            locks.push_back(json_of(each));
        with.out.result(
            boost::json::object{{"locks", std::move(locks)}, {"complete", found.complete}});
    } else if (!with.out.how().quiet) {
        print(found, with.out);
    }
    if (found.complete)
        return status::good;
    with.out.message(console::level::warning, "incomplete",
        "the list is incomplete: nodes were not read to the end, or have too many locks");
    return status::incomplete;
}

} // namespace holdfast::cli
