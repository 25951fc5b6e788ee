#include "holdfast/release.hpp"

#include "holdfast/observer.hpp"
#include "holdfast/reports.hpp"
#include "holdfast/statuses.hpp"
#include "holdfast/text.hpp"
#include "holdfast/usage.hpp"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

using level = console::level;

std::string description_of(const std::optional<lock_owner>& owner)
{
    if (!owner)
        return "an unknown owner";
    return in_words(*owner) +
           (owner->foreign ? ""
                           : ", for " + age_of(owner->since, std::chrono::system_clock::now()));
}

bool is_same(const std::optional<lock_owner>& a, const std::optional<lock_owner>& b)
{
    return a.has_value() == b.has_value() &&
           (!a || (a->mark == b->mark && a->id == b->id && a->since == b->since));
}

// What the person at the terminal says.
bool confirmed(const resource_report& seen)
{
    std::cerr << "The lock \"" + visible(seen.resource) + "\" is held by " +
                     description_of(seen.owner) + ".\nIf it cannot be told, it goes on for up to " +
                     time_left(seen.ttl_left, seen.without_ttl) +
                     ", and two holders may act at once.\nTake the lock away? [y/N] "
              << std::flush;
    std::string line;
    std::getline(std::cin, line);
    return line == "y" || line == "Y" || line == "yes";
}

void report(const resource& what, const observer::release_result& result, const console& out)
{
    const forced_release& done = result.done;
    if (out.how().json) {
        boost::json::object line;
        add_name(line, what.name());
        line["released"] = result.was_held;
        line["owner"] = done.owner ? boost::json::value(json_of(*done.owner)) : nullptr;
        line["deleted"] = done.deleted;
        line["told"] = done.told;
        return out.result(line);
    }
    if (out.how().quiet)
        return;
    if (result.was_held)
        out.result("released; it was held by " + description_of(done.owner));
    else if (done.deleted != 0)
        out.result("nobody held it; deleted keys without a ttl at " + std::to_string(done.deleted) +
                   " nodes");
    else
        out.result("nobody held it");
    if (result.was_held && done.told)
        out.result("the holder was told");
}

void warn_of_change(const console& out)
{
    out.message(
        level::warning, "changed_hands", "the lock has changed hands: nothing was released");
}

} // namespace

void release_command::add_to(CLI::App& app)
{
    parsed_ = app.add_subcommand("release", "Take a lock away from its holder");
    parsed_->group("Commands");
    parsed_->formatter(std::make_shared<usage>("holdfast release --force [OPTIONS] NAME"));
    parsed_->add_option("NAME", name_, "name of the lock")->required();
    parsed_->add_flag("--force", force_, "needed: only its holder can release a lock otherwise");
    parsed_->add_flag("--yes", yes_, "do not ask; needed where there is no terminal");
    parsed_->footer(
        "The holder is told, and stops. A holder that cannot be told goes on until its next\n"
        "renewal or the end of its lease: two holders may act at once. Stop its work first.\n\n"
        "Exit status: 0 if the holder has lost the lock and was told; 1 if nobody held it; 2 if\n"
        "you did not confirm, or the lock changed hands meanwhile; 3 if the holder has lost the\n"
        "lock and could not be told; 125 if holdfast failed. For the options of the store see:\n"
        "holdfast --help\n\n"
        "Example:\n"
        "  holdfast release --force nightly-backup");
}

bool release_command::chosen() const
{
    return parsed_->parsed();
}

int release_command::run(const invocation& with)
{
    if (!force_)
        throw std::invalid_argument(
            "only its holder can release a lock: to take it away use --force");
    const resource what(name_);
    if (!yes_ && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1))
        throw std::invalid_argument("there is no terminal to ask at: use --yes");

    observer nodes(with.stores, use::taking);
    if (!yes_) {
        const resource_report seen = nodes.inspect(what);
        if (seen.held) {
            if (!confirmed(seen)) {
                with.out.message(level::note, "not_confirmed", "nothing was released");
                return status::not_confirmed;
            }
            const resource_report now = nodes.inspect(what);
            if (now.held && !is_same(seen.owner, now.owner)) {
                warn_of_change(with.out);
                return status::not_confirmed;
            }
        }
    }
    const observer::release_result result = nodes.force_release(what);
    if (result.was_held && result.done.deleted == 0) {
        warn_of_change(with.out);
        return status::not_confirmed;
    }
    report(what, result, with.out);
    if (!result.was_held)
        return status::not_held;
    if (result.done.told)
        return status::good;
    with.out.message(level::warning, "holder_not_told",
        "the holder could not be told: it goes on until its next renewal or the end of its lease");
    return status::holder_not_told;
}

} // namespace holdfast::cli
