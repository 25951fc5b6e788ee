#include "holdfast/program.hpp"

#include "holdfast/terminal.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace holdfast::cli {

namespace {

std::vector<std::string> environment_with(const program::variables& changed)
{
    std::vector<std::string> all;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto name = text.substr(0, text.find('='));
        if (std::none_of(changed.begin(), changed.end(),
                [name](const auto& change) { return change.first == name; }))
            all.emplace_back(text);
    }
    for (const auto& [name, value] : changed) {
        if (!value.empty())
            all.push_back(name + "=" + value);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> all;
    for (std::string& word : words)
        all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

bool ignores_pipes() noexcept
{
    struct sigaction action {};
    return ::sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// When this process began. libmariadb ignores SIGPIPE later, and the command is not to inherit
// that: a shell cannot undo it, and a writer whose reader has ended would go on.
const bool ignored_pipes = ignores_pipes();

// A signal that reaches the child before exec must not run a handler of the parent.
void reset_handlers() noexcept
{
    if (!ignored_pipes)
        ::signal(SIGPIPE, SIG_DFL);
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            ::signal(number, SIG_DFL);
    }
}

// Runs in the child, the copy of a process that may have threads: system calls only.
[[noreturn]] void execute(char** words, char** variables, pid_t parent, pid_t group,
    const sigset_t& mask, const terminal& screen, int report)
{
    reset_handlers();
    // The foreground is given while this is still the group of the parent, so that the command
    // cannot read from the terminal before.
    screen.give_to(group);
    ::setpgid(0, group);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    // In case that this process and the guardian are both killed.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent)
        ::execvpe(words[0], words, variables);
    else
        errno = ECANCELED;
    const int number = errno;
    [[maybe_unused]] const auto written = ::write(report, &number, sizeof number);
    ::_exit(127);
}

} // namespace

program::program(const std::vector<std::string>& words, const variables& changed, pid_t group,
    const terminal& screen)
{
    std::vector<std::string> arguments = words, environment = environment_with(changed);
    const std::vector<char*> argument_list = pointers(arguments);
    const std::vector<char*> variable_list = pointers(environment);

    int report[2]; // closed by a successful exec
    if (::pipe2(report, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t parent = ::getpid();
    sigset_t all, mask;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask);
    pid_ = ::fork();
    if (pid_ == 0)
        execute(const_cast<char**>(argument_list.data()), const_cast<char**>(variable_list.data()),
            parent, group, mask, screen, report[1]);
    const int fork_error = errno;
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::close(report[1]);
    int number = 0;
    ssize_t size = 0;
    if (pid_ != -1) {
        while ((size = ::read(report[0], &number, sizeof number)) == -1 && errno == EINTR) {
        }
    }
    ::close(report[0]);
    if (pid_ == -1)
        throw std::system_error(fork_error, std::generic_category(), "fork");
    if (size == 0)
        return;
    while (::waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) {
    }
    screen.take_from(group);
    throw start_error{number};
}

program::news program::look() noexcept
{
    news found;
    int status = 0;
    while (!ended_ && ::waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_) {
        if (WIFSTOPPED(status)) {
            found.stopped_by = WSTOPSIG(status);
            continue;
        }
        ended_ = true;
        found.ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        found.exit_status = found.ended_by != 0 ? 128 + found.ended_by : WEXITSTATUS(status);
    }
    return found;
}

bool has_members(pid_t group) noexcept
try {
    bool any = false;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name.front())) == 0)
            continue;
        any = true;
        std::ifstream file(entry.path() / "stat");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const auto bracket = text.rfind(')'); // the name before it may contain anything
        if (bracket == text.npos)
            continue; // it has just ended
        char state = 0;
        long parent = 0, its_group = 0;
        if (std::sscanf(text.c_str() + bracket + 1, " %c %ld %ld", &state, &parent, &its_group) ==
                3 &&
            its_group == group && state != 'Z' && name != std::to_string(group))
            return true;
    }
    return !any;
} catch (const std::exception&) {
    return true;
}

} // namespace holdfast::cli
