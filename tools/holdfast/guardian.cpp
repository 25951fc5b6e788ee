#include "holdfast/guardian.hpp"

#include "holdfast/program.hpp"

#include <csignal>
#include <ctime>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

namespace holdfast::cli {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// In nanoseconds of CLOCK_BOOTTIME.
struct times {
    std::int64_t stop = never, kill = never;
};

std::int64_t now() noexcept
{
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * second + t.tv_nsec;
}

std::int64_t to_boot_time(guardian::time_point when) noexcept
{
    // The later the steady clock is read, the earlier is the result.
    const std::int64_t base = now();
    const auto steady = guardian::time_point::clock::now();
    return when <= steady ? base : base + (when - steady).count();
}

// The body of the process.
class guard {
public:
    explicit guard(int channel) noexcept
        : channel_(channel),
          timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC))
    {}

    [[noreturn]] void run() noexcept
    {
        for (;;) {
            set_timer(std::min(told_ ? never : times_.stop, times_.kill));
            pollfd waits[] = {{channel_, POLLIN, 0}, {timer_, POLLIN, 0}};
            ::poll(waits, 2, channel_ == -1 || timer_ == -1 ? 100 : -1);
            if (channel_ != -1 && waits[0].revents != 0)
                read();
            if (now() >= times_.stop)
                tell();
            if (now() >= times_.kill)
                ::kill(0, SIGKILL); // includes this process
            if (channel_ == -1)
                end_with_group();
        }
    }

private:
    void set_timer(std::int64_t at) noexcept
    {
        itimerspec spec{};
        if (at != never) {
            spec.it_value.tv_sec = at / second;
            spec.it_value.tv_nsec = std::max<std::int64_t>(at % second, 1);
        }
        ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
    }

    void read() noexcept
    {
        times next;
        const auto size = ::recv(channel_, &next, sizeof next, MSG_DONTWAIT);
        if (size == static_cast<ssize_t>(sizeof next)) {
            times_ = told_ ? times{next.stop, std::min(next.kill, times_.kill)} : next;
        } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
            channel_ = -1; // the other process has ended
            if (times_.kill == never)
                ::_exit(0); // before the command was started
            times_.stop = 0;
        }
    }

    // Nothing may be left to end. One look could miss a process that has just been started by one
    // that ends.
    void end_with_group() noexcept
    {
        empty_looks_ = has_members(::getpgrp()) ? 0 : empty_looks_ + 1;
        if (empty_looks_ == 3)
            ::_exit(0);
    }

    void tell() noexcept
    {
        if (told_)
            return;
        told_ = true;
        ::kill(0, SIGTERM);
        ::kill(0, SIGCONT); // a stopped process would not see the first one
    }

    int channel_, timer_;
    times times_;
    bool told_ = false;
    int empty_looks_ = 0;
};

[[noreturn]] void become_guardian(int channel) noexcept
{
    ::setpgid(0, 0);
    // Another name, so that `killall holdfast` does not take the guardian as well.
    ::prctl(PR_SET_NAME, "lease-guard");
    // It must not keep a pipe or a folder of the user in use.
    ::dup2(channel, STDIN_FILENO);
    ::close_range(STDIN_FILENO + 1, ~0u, 0);
    if (::chdir("/") != 0) {
        // It stays where it is.
    }
    guard(STDIN_FILENO).run();
}

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

guardian::guardian()
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair");
    // Signals to the group are for the command. Only SIGKILL ends the guardian, and SIGSTOP stops
    // it. They are blocked before it exists: a handler of this process must not run in it.
    sigset_t all, mask;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask);
    pid_ = ::fork();
    if (pid_ == 0)
        become_guardian(ends[1]);
    const int fork_error = errno;
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::close(ends[1]);
    if (pid_ == -1) {
        ::close(ends[0]);
        errno = fork_error;
        fail("fork");
    }
    channel_ = ends[0];
    ::setpgid(pid_, pid_); // in both processes, so the group exists for both from now on
}

guardian::~guardian()
{
    dismiss();
    ::close(channel_);
}

void guardian::dismiss() noexcept
{
    if (pid_ == -1)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) {
    }
    pid_ = -1;
}

bool guardian::running() const noexcept
{
    siginfo_t info{};
    // WNOWAIT: without a zombie the number of the group could be used again.
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 && info.si_pid == 0;
}

void guardian::schedule(time_point stop, time_point kill) noexcept
{
    const times message{to_boot_time(stop), to_boot_time(kill)};
    // If it does not read, the old times stay in force, which are earlier.
    ::send(channel_, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace holdfast::cli
