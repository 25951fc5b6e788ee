#include "holdfast/supervisor.hpp"

#include "holdfast/duration.hpp"
#include "holdfast/guardian.hpp"
#include "holdfast/reports.hpp"
#include "holdfast/stores.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

constexpr milliseconds patience{2'000}; // until a message says that this process waits
constexpr milliseconds group_check{20}; // how often to look whether the group is empty
constexpr milliseconds shortest_follow{5};

// Passed on to the command. A signal that was ignored when this process began stays ignored, as
// with nohup.
constexpr int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

bool is_ignored(int number)
{
    struct sigaction action {};
    return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Wall-clock time in seconds since 1970, with milliseconds.
std::string unix_time(steady::time_point when)
{
    const auto wall =
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(when - steady::now());
    const auto ms = std::chrono::duration_cast<milliseconds>(wall.time_since_epoch()).count();
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ms / 1'000),
        static_cast<long long>(ms % 1'000));
    return text;
}

// The command does not get the password: it is for this program. Settings of the store without a
// password stay, so that the command can use this program as well.
program::variables variables_for(const lease& held)
{
    program::variables all{{"HOLDFAST_RESOURCE", held.resource()},
        {"HOLDFAST_TOKEN", held.fence() ? std::to_string(*held.fence()) : std::string()},
        {"HOLDFAST_DEADLINE", unix_time(held.valid_until())}, {"HOLDFAST_PASSWORD", ""}};
    const char* const stores = std::getenv("HOLDFAST_STORE");
    if (stores != nullptr && (std::strchr(stores, '@') != nullptr || has_password(stores)))
        all.emplace_back("HOLDFAST_STORE", "");
    return all;
}

} // namespace

supervisor::supervisor(
    asio::io_context& io, locker& locks, errand what, guardian& watch, const console& out)
    : io_(io),
      locker_(locks),
      what_(std::move(what)),
      guardian_(watch),
      out_(out),
      signals_(io),
      timer_(io)
{
    for (const int number : passed_on) {
        if (!is_ignored(number))
            signals_.add(number);
    }
    signals_.add(SIGCHLD);
    signals_.add(SIGCONT);
}

int supervisor::run()
{
    wait_for_signal();
    acquire();
    io_.run();
    return status_;
}

void supervisor::end_as_interrupted() const noexcept
{
    if (!interrupted_)
        return;
    std::signal(SIGINT, SIG_DFL);
    // The terminal has sent the signal to the group of the command only. Usually it is for a script
    // that has started this process as well.
    if (from_terminal_)
        ::kill(0, SIGINT);
    ::raise(SIGINT);
}

void supervisor::wait_for_signal()
{
    signals_.async_wait([this](error_code error, int number) {
        if (error)
            return;
        on_signal(number);
        if (!finishing_)
            wait_for_signal();
    });
}

void supervisor::on_signal(int number)
{
    if (number == SIGCHLD)
        return on_child_changed();
    if (number == SIGCONT)
        return continue_command();
    if (program_) {
        signal_ = number;
        ::kill(-guardian_.group(), number);
        return;
    }
    if (number == SIGUSR1 || number == SIGUSR2)
        return; // there is no command yet
    signal_ = number;
    cancel_acquire_.emit(asio::cancellation_type::terminal);
}

void supervisor::on_child_changed()
{
    if (!program_ || finishing_)
        return;
    if (!lease_.held()) // this process was stopped, and could not notice earlier
        on_lost(errc::lease_lost);
    const program::news news = program_->look();
    if (news.stopped_by && !news.exit_status) {
        pass_stop_on(*news.stopped_by);
        return on_child_changed(); // the lease may have ended meanwhile
    }
    if (news.exit_status) {
        const bool was_foreground = terminal_.take_from(guardian_.group());
        if (lost_)
            return; // see follow_end()
        interrupted_ = news.ended_by == SIGINT;
        from_terminal_ = was_foreground && signal_ != SIGINT;
        return finish(*news.exit_status);
    }
    if (!program_->ended() && !guardian_.running() && !lost_) {
        // The guardian ends with the group if it was frozen together with this process. Then the
        // command ends as well. Nothing would stop the command in time without the guardian; a
        // message may have to wait for its reader.
        ::kill(-guardian_.group(), SIGKILL);
        out_.message(console::level::error, "guardian_ended",
            "the process that stops the command in time has ended, so the command is killed");
    }
}

// The keys for it (Ctrl-Z) reach the command only. The shell must know as well, or it would not
// return to its prompt. While both are stopped nothing renews the lease, and the guardian ends the
// command in time.
void supervisor::pass_stop_on(int number)
{
    if (!terminal_.exists() || (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU))
        return;
    terminal_.take_from(guardian_.group());
    const bool continued = terminal_.stop_here(number);
    // A command that cannot use the terminal would be stopped again at once.
    if (continued || number == SIGTSTP)
        continue_command();
}

void supervisor::continue_command()
{
    if (!program_ || program_->ended() || lost_ || !lease_.held())
        return;
    terminal_.give_to(guardian_.group());
    ::kill(-guardian_.group(), SIGCONT);
}

void supervisor::acquire()
{
    acquiring_ = true;
    timer_.expires_after(patience);
    timer_.async_wait([this](error_code error) {
        if (!error && acquiring_)
            report_waiting();
    });
    auto done = asio::bind_cancellation_slot(cancel_acquire_.slot(),
        [this](error_code error, lease granted) { on_acquired(error, std::move(granted)); });
    if (what_.once)
        what_.lock.try_acquire(std::move(done));
    else
        what_.lock.acquire(std::move(done));
}

void supervisor::report_waiting()
{
    const std::string trouble = describe_nodes(locker_.stats());
    out_.message(console::level::note, "waiting",
        "waiting for " + quoted_name() + (trouble.empty() ? "" : "; " + trouble));
}

void supervisor::on_acquired(error_code error, lease granted)
{
    acquiring_ = false;
    timer_.cancel();
    lease_ = std::move(granted);
    if (signal_ != 0) {
        interrupted_ = signal_ == SIGINT;
        return finish(status::signal_base + signal_);
    }
    if (error || !lease_) {
        report_not_acquired(error);
        return finish(!error || error == errc::contended ? what_.not_acquired : status::failed);
    }
    start_command();
}

void supervisor::report_not_acquired(error_code error)
{
    if (!error || error == errc::contended) {
        out_.message(
            console::level::note, "not_acquired", quoted_name() + " is held by others", about());
        return;
    }
    const std::string trouble = describe_nodes(locker_.stats());
    out_.message(console::level::error, "failed",
        "cannot acquire " + quoted_name() + ": " + error.message() +
            (trouble.empty() ? "" : ": " + trouble),
        about());
}

void supervisor::start_command()
{
    boost::json::object fields = about();
    if (lease_.fence())
        fields["token"] = *lease_.fence();
    out_.message(console::level::detail, "acquired",
        "acquired " + quoted_name() +
            (lease_.fence() ? " with token " + std::to_string(*lease_.fence()) : ""),
        std::move(fields));
    follow_lease();
    if (!lease_.held()) { // the message had to wait for its reader
        out_.message(console::level::error, "lease_lost",
            "lost the lease on " + quoted_name() + " before the command was started", about());
        return finish(status::lease_lost);
    }
    try {
        program_.emplace(what_.words, variables_for(lease_), guardian_.group(), terminal_);
    } catch (const program::start_error& e) {
        const bool missing = e.number == ENOENT;
        out_.message(console::level::error, missing ? "not_found" : "cannot_execute",
            what_.words.front() + ": " + std::strerror(e.number));
        return finish(missing ? status::not_found : status::cannot_execute);
    } catch (const std::exception& e) {
        out_.message(console::level::error, "failed", std::string("cannot start: ") + e.what());
        return finish(status::failed);
    }
    lease_.lost([this](error_code why) { on_lost(why); });
    on_child_changed(); // it may have ended before its SIGCHLD was waited for
}

// The guardian learns the end of the lease again and again, since renewals move it.
void supervisor::follow_lease()
{
    if (lost_ || finishing_)
        return;
    const auto end = lease_.valid_until();
    if (end > steady::now())
        guardian_.schedule(end - what_.guard, end);
    timer_.expires_after(std::max(shortest_follow, what_.lock.options().ttl / 20));
    timer_.async_wait([this](error_code error) {
        if (!error)
            follow_lease();
    });
}

void supervisor::on_lost(error_code why)
{
    if (why != errc::lease_lost || lost_ || finishing_)
        return;
    lost_ = true;
    timer_.cancel();
    const auto now = steady::now();
    const auto end = std::max(lease_.valid_until(), now);
    guardian_.schedule(now, end);
    const std::string trouble = describe_nodes(locker_.stats());
    out_.message(console::level::error, "lease_lost",
        "lost the lease on " + quoted_name() + (trouble.empty() ? "" : ": " + trouble) +
            (end > now ? "; the command is told to stop, and is killed in " +
                             to_text(std::chrono::duration_cast<milliseconds>(end - now))
                       : "; the command is killed"),
        about());
    follow_end(end);
}

// Waits until the whole group has ended: processes that the command has started may need the time
// until the end of the lease as well. The guardian kills them, unless it is stopped itself.
void supervisor::follow_end(steady::time_point end)
{
    const pid_t group = guardian_.group();
    if (steady::now() >= end)
        ::kill(-group, SIGKILL);
    if (program_->ended() && (!guardian_.running() || !has_members(group)))
        return finish(status::lease_lost);
    timer_.expires_after(group_check);
    timer_.async_wait([this, end](error_code error) {
        if (!error)
            follow_end(end);
    });
}

void supervisor::finish(int result)
{
    finishing_ = true;
    status_ = result;
    timer_.cancel();
    const bool held = static_cast<bool>(lease_) && !lost_;
    auto closed = [this](error_code) {
        signals_.cancel();
    };
    if (!held) {
        lease_ = lease();
        return locker_.close(std::move(closed));
    }
    lease_.release([this, closed](error_code, release_outcome outcome) mutable {
        if (outcome == release_outcome::unconfirmed)
            out_.message(console::level::warning, "unconfirmed_release",
                "the nodes have not confirmed the release of " + quoted_name() +
                    "; it is free again within " + to_text(what_.lock.options().ttl));
        else if (outcome == release_outcome::released)
            out_.message(console::level::detail, "released", "released " + quoted_name());
        locker_.close(std::move(closed));
    });
}

boost::json::object supervisor::about() const
{
    boost::json::object all;
    add_name(all, what_.lock.resource());
    return all;
}

std::string supervisor::quoted_name() const
{
    return '"' + what_.lock.resource() + '"';
}

} // namespace holdfast::cli
