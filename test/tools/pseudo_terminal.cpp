#include "tools/pseudo_terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

namespace holdfast::test {

pseudo_terminal::pseudo_terminal(
    const words& arguments, unsigned short rows, unsigned short columns)
{
    words all{"env"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& each : all)
        pointers.push_back(each.data());
    pointers.push_back(nullptr);
    const winsize size{rows, columns, 0, 0};
    pid_ = ::forkpty(&keyboard_, nullptr, nullptr, &size);
    if (pid_ == -1)
        throw std::runtime_error("forkpty");
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execvp("env", pointers.data());
        ::_exit(127);
    }
    ::fcntl(keyboard_, F_SETFD, FD_CLOEXEC);
    line_ = ::open(::ptsname(keyboard_), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

pseudo_terminal::~pseudo_terminal()
{
    if (pid_ != -1) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(line_);
    ::close(keyboard_);
}

void pseudo_terminal::type(const std::string& text)
{
    if (::write(keyboard_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("cannot write to the terminal");
}

std::string pseudo_terminal::read_until(const std::string& mark)
{
    while (rest_.find(mark) == rest_.npos) {
        pollfd wait{keyboard_, POLLIN, 0};
        char buffer[4'000];
        const auto size =
            ::poll(&wait, 1, 60'000) == 1 ? ::read(keyboard_, buffer, sizeof buffer) : -1;
        if (size <= 0)
            throw std::runtime_error("no \"" + mark + "\" in: " + rest_);
        rest_.append(buffer, static_cast<std::size_t>(size));
    }
    const auto end = rest_.find(mark) + mark.size();
    const std::string text = rest_.substr(0, end);
    rest_.erase(0, end);
    return text;
}

void pseudo_terminal::resize(unsigned short rows, unsigned short columns)
{
    const winsize size{rows, columns, 0, 0};
    if (::ioctl(keyboard_, TIOCSWINSZ, &size) != 0)
        throw std::runtime_error("TIOCSWINSZ");
}

void pseudo_terminal::signal(int number)
{
    ::kill(-pid_, number);
}

tcflag_t pseudo_terminal::modes() const
{
    termios found{};
    if (::tcgetattr(line_, &found) != 0)
        throw std::runtime_error("tcgetattr");
    return found.c_lflag;
}

int pseudo_terminal::wait()
{
    int status = 0;
    if (::waitpid(pid_, &status, WUNTRACED) != pid_)
        throw std::runtime_error("waitpid");
    if (!WIFSTOPPED(status))
        pid_ = -1;
    return status;
}

} // namespace holdfast::test
