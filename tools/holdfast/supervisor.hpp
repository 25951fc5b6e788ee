#pragma once

#include "holdfast/console.hpp"
#include "holdfast/program.hpp"
#include "holdfast/statuses.hpp"
#include "holdfast/terminal.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

class guardian;

/// What to run under which lock.
struct errand {
    holdfast::lock lock;
    bool once = false; ///< one attempt, instead of waiting as the options of the lock say
    std::chrono::milliseconds guard{}; ///< between SIGTERM and SIGKILL, as in those options
    std::vector<std::string> words;    ///< the command
    int not_acquired = status::not_acquired;
};

/// Acquires a lock, runs one command under it, passes signals and job control on, stops the command
/// if the lease cannot be kept, and releases the lock.
///
/// The guardian stops the command; this class tells it when. So the command also ends in time if
/// this process is frozen or killed.
class supervisor {
public:
    /// `watch` is the process group for the command.
    supervisor(
        asio::io_context& io, locker& locks, errand what, guardian& watch, const console& out);

    /// Returns the exit status of this program.
    int run();

    /// If SIGINT has ended the command, ends this process in the same way, so that a shell also
    /// ends the script that has started it. Otherwise it returns. Call it last.
    void end_as_interrupted() const noexcept;

private:
    void wait_for_signal();
    void on_signal(int number);
    void on_child_changed();
    void pass_stop_on(int number);
    void continue_command();

    void acquire();
    void on_acquired(error_code error, lease granted);
    void report_not_acquired(error_code error);
    void report_waiting();
    void start_command();
    void follow_lease();
    void on_lost(error_code why);
    void follow_end(std::chrono::steady_clock::time_point end);
    void finish(int status);
    boost::json::object about() const; // fields of messages: the name
    std::string quoted_name() const;

    asio::io_context& io_;
    locker& locker_;
    errand what_;
    guardian& guardian_;
    const console& out_;
    terminal terminal_;
    asio::signal_set signals_;
    asio::steady_timer timer_;
    asio::cancellation_signal cancel_acquire_;
    lease lease_;
    std::optional<program> program_;
    int signal_ = 0;             // the last signal for the command that has reached this process
    bool interrupted_ = false;   // SIGINT has ended the command
    bool from_terminal_ = false; // and the terminal had sent it
    bool acquiring_ = false;
    bool lost_ = false;
    bool finishing_ = false;
    int status_ = status::failed;
};

} // namespace holdfast::cli
