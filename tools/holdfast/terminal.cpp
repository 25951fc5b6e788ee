#include "holdfast/terminal.hpp"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

volatile std::sig_atomic_t continued = 0;

} // namespace

terminal::terminal() : descriptor_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

terminal::~terminal()
{
    if (descriptor_ != -1)
        ::close(descriptor_);
}

void terminal::give_to(pid_t group) const noexcept
{
    if (exists() && ::tcgetpgrp(descriptor_) == ::getpgrp())
        set_foreground(group);
}

bool terminal::take_from(pid_t group) const noexcept
{
    if (!exists() || ::tcgetpgrp(descriptor_) != group)
        return false;
    set_foreground(::getpgrp());
    return true;
}

void terminal::set_foreground(pid_t group) const noexcept
{
    // Without this the call would stop a process in the background.
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &stop, &before);
    ::tcsetpgrp(descriptor_, group);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool terminal::stop_here(int signal) const noexcept
{
    struct sigaction note {
    }, before{};
    note.sa_handler = [](int) {
        continued = 1;
    };
    continued = 0;
    ::sigaction(SIGCONT, &note, &before);
    ::kill(0, signal); // this thread is the only one that takes signals: it stops in this call
    ::sigaction(SIGCONT, &before, nullptr);
    return continued != 0;
}

} // namespace holdfast::cli
