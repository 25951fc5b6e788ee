#include "holdfast/run.hpp"

#include "holdfast/guardian.hpp"
#include "holdfast/supervisor.hpp"
#include "holdfast/usage.hpp"

#include <holdfast/options.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

// The library names its own settings; here they are options.
void check_times(const lock_options& options)
try {
    check(options);
} catch (const std::invalid_argument& e) {
    throw std::invalid_argument(
        "--ttl and --kill-after (the guard) do not fit: " + std::string(without_prefix(e.what())));
}

} // namespace

void run_command::add_to(CLI::App& app)
{
    parsed_ = app.add_subcommand("run", "Run a command under a lock");
    parsed_->group("Commands");
    parsed_->formatter(
        std::make_shared<usage>("holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]"));
    parsed_->add_option("NAME", name_, "name of the lock")->required();
    auto* const wait = parsed_->add_option(
        "--wait", wait_, "how long to wait for the lock; without it there is no limit");
    wait->type_name("DURATION")->check(duration_error);
    parsed_->add_flag("--try", try_, "make one attempt, do not wait")->excludes(wait);
    parsed_
        ->add_option("--ttl", ttl_,
            "how long the lock stays after a crash; it is renewed while the command runs; "
            "default 30s")
        ->type_name("DURATION")
        ->check(duration_error);
    parsed_
        ->add_option("--kill-after", kill_after_,
            "if the lock cannot be kept: send SIGTERM this long before its end, and SIGKILL at its "
            "end; default: a sixth of the ttl")
        ->type_name("DURATION")
        ->check(duration_error);
    parsed_
        ->add_option("-E,--conflict-exit-code", not_acquired_,
            "exit status if others hold the lock; default 124")
        ->type_name("STATUS")
        ->check(CLI::Range(0, 255).description(""));
    parsed_->footer(
        "Exit status: that of the command; 128+N if signal N has ended it; 123 if the lock was\n"
        "lost; 124 if others hold it; 125 if holdfast failed; 126 if the command cannot be\n"
        "executed; 127 if it was not found.\n\n"
        "The command gets HOLDFAST_RESOURCE, HOLDFAST_DEADLINE and, with --fenced or in a\n"
        "store other than Redis, HOLDFAST_TOKEN. For the options of the store see:\n"
        "holdfast --help\n\n"
        "Examples:\n"
        "  holdfast run --try nightly-backup -- /usr/local/bin/backup\n"
        "  holdfast run --wait 5m --ttl 1m deploy -- sh -c 'make && make install'");
}

bool run_command::chosen() const
{
    return parsed_->parsed();
}

int run_command::run(const invocation& with)
{
    lock_options options;
    options.ttl = ttl_.value;
    options.wait = wait_ ? wait_->value : forever;
    options.guard =
        kill_after_ ? kill_after_->value : longest_validity(with.stores, ttl_.value) / 6;
    check_times(options);
    store_settings where = with.stores;
    where.ttl = ttl_.value;
    const backend store = open_store(where, use::locking);

    // Before the locker, which may start a thread.
    guardian watch;
    asio::io_context io;
    locker locks(io.get_executor(), store);
    supervisor work(io, locks,
        errand{.lock = holdfast::lock(locks, name_, options),
            .once = try_,
            .guard = *options.guard,
            .words = with.program,
            .not_acquired = not_acquired_},
        watch, with.out);
    const int result = work.run();
    watch.dismiss();
    work.end_as_interrupted();
    return result;
}

} // namespace holdfast::cli
