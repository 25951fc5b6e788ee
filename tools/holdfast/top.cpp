#include "holdfast/top.hpp"

#include "holdfast/statuses.hpp"
#include "holdfast/top_view.hpp"
#include "holdfast/usage.hpp"

#include <csignal>
#include <memory>
#include <stdexcept>

namespace holdfast::cli {

void top_command::add_to(CLI::App& app)
{
    parsed_ = app.add_subcommand("top", "Show locks and nodes, and refresh the view");
    parsed_->group("Commands");
    parsed_->formatter(std::make_shared<usage>("holdfast top [OPTIONS] [PREFIX]"));
    parsed_->add_option("PREFIX", prefix_, "only locks whose names begin with this");
    parsed_
        ->add_option("--interval", interval_, "pause between two views; 100ms at least; default 2s")
        ->type_name("DURATION")
        ->check(duration_error);
    parsed_
        ->add_option(
            "--sort", order_, "what comes first: age, ttl, queue (its length) or name; default age")
        ->type_name("ORDER");
    parsed_->add_flag("--batch", batch_, "print plain pages, one after the other");
    parsed_
        ->add_option("--count", count_, "end after this many views; without it there is no limit")
        ->type_name("NUMBER");
    parsed_->footer(
        "Keys: q quit; a, t, l, n sort by age, ttl, length of queue, name; space: refresh now.\n"
        "Queues are read for the first 256 locks of a view; \"?\" stands for the others.\n\n"
        "Exit status: 0; 1 if locks may be missing from the last view; 2 if too few nodes have\n"
        "answered for it; 125 if holdfast failed. For the options of the store see:\n"
        "holdfast --help\n\n"
        "Example:\n"
        "  holdfast top --batch --count 1 stock:");
}

bool top_command::chosen() const
{
    return parsed_->parsed();
}

int top_command::run(const invocation& with)
{
    if (interval_.value < std::chrono::milliseconds(100))
        throw std::invalid_argument("--interval must be 100ms at least");
    if (count_ && *count_ == 0)
        throw std::invalid_argument("--count must be 1 at least");
    if (with.out.how().json && !batch_)
        throw std::invalid_argument("--json needs --batch");
    top_settings how{.prefix = prefix_,
        .order = parse_top_order(order_),
        .interval = interval_.value,
        .count = count_,
        .batch = batch_};
    top_view::ending end;
    {
        top_view view(with.stores, std::move(how), with.out);
        end = view.run();
    } // the terminal is as before
    if (end.signal != 0) {
        std::signal(end.signal, SIG_DFL);
        ::raise(end.signal);
    }
    return end.status;
}

} // namespace holdfast::cli
