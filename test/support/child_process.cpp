#include "support/child_process.hpp"

#define BOOST_PROCESS_USE_STD_FS // the other file system library would have to be linked
#if __has_include(<boost/process/v1/child.hpp>) // Boost 1.86 and newer
#include <boost/process/v1/args.hpp>
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/exe.hpp>
#include <boost/process/v1/extend.hpp>
#include <boost/process/v1/io.hpp>
#include <boost/process/v1/pipe.hpp>
#include <boost/process/v1/search_path.hpp>
#else
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <boost/process/search_path.hpp>
#endif

#include <csignal>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::test {
namespace {

#if __has_include(<boost/process/v1/child.hpp>)
namespace bp = boost::process::v1;
#else
namespace bp = boost::process;
#endif

std::string find_program(const std::string& name)
{
    if (name.find('/') != std::string::npos)
        return name;
    const auto found = bp::search_path(name);
    if (found.empty())
        throw std::runtime_error(name + " is not on the PATH");
    return found.string();
}

// Runs in the child, which may be the copy of a process with threads: system calls only.
void prepare_child(pid_t parent, bool own_group)
{
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (own_group)
        ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) // the parent died before prctl()
        ::_exit(127);
    // Instead of bp::limit_handles, which also closes inherited standard streams and the pipe that
    // reports a failure of exec(), and allocates memory.
    ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
}

template <class... Redirections>
bp::child launch(
    const std::vector<std::string>& words, bool own_group, Redirections&&... redirections)
{
    const auto prepare = [parent = ::getpid(), own_group](auto&) {
        prepare_child(parent, own_group);
    };
    try {
        return bp::child(bp::exe = find_program(words.at(0)),
            bp::args = std::vector<std::string>(words.begin() + 1, words.end()),
            std::forward<Redirections>(redirections)..., bp::extend::on_exec_setup = prepare);
    } catch (const bp::process_error& e) {
        throw std::system_error(e.code(), words.front());
    }
}

} // namespace

struct child_process::state {
    state(const std::vector<std::string>& words, child_options options)
    {
        switch (options.piped) {
        case child_options::pipes::none:
            process = launch(words, options.own_group);
            return;
        case child_options::pipes::output:
            output.emplace();
            process = launch(words, options.own_group, bp::std_out > *output);
            return;
        case child_options::pipes::input_and_output:
            input.emplace();
            output.emplace();
            process =
                launch(words, options.own_group, (bp::std_in < *input), (bp::std_out > *output));
            return;
        }
    }

    std::optional<bp::pipe> input; // a bp::opstream may throw in its destructor
    std::optional<bp::ipstream> output;
    bp::child process;
};

child_process::child_process(const std::vector<std::string>& words, child_options options)
    : state_(std::make_unique<state>(words, options))
{}

child_process::child_process(child_process&& other) noexcept = default;
child_process& child_process::operator=(child_process&& other) noexcept = default;
child_process::~child_process() = default;

pid_t child_process::pid() const noexcept
{
    return running() ? state_->process.id() : -1;
}

bool child_process::running() const noexcept
{
    std::error_code ignored;
    return state_ && state_->process.running(ignored);
}

std::string child_process::read_line()
{
    std::string line;
    std::getline(state_->output.value(), line);
    return state_->output->good() ? line : std::string();
}

void child_process::write_line(const std::string& line)
{
    const auto all = line + '\n';
    const auto size = static_cast<int>(all.size());
    if (state_->input.value().write(all.data(), size) != size)
        throw std::runtime_error("cannot write to a process");
}

int child_process::output() const noexcept
{
    return state_->output ? state_->output->pipe().native_source() : -1;
}

bool child_process::has_output() const
{
    bp::ipstream& output = state_->output.value();
    pollfd more{.fd = this->output(), .events = POLLIN, .revents = 0};
    return output.rdbuf()->in_avail() > 0 || ::poll(&more, 1, 0) != 0;
}

void child_process::kill() noexcept
{
    if (!running())
        return;
    ::kill(state_->process.id(), SIGKILL);
    wait(); // bp::child::terminate() would lose the status
}

void child_process::ask_to_end() noexcept
{
    if (running())
        ::kill(state_->process.id(), SIGTERM);
}

void child_process::pause()
{
    if (!running() || ::kill(state_->process.id(), SIGSTOP) == -1)
        throw std::runtime_error("there is no process to pause");
    wait_until_stopped(); // the signal takes effect a moment later
}

void child_process::wait_until_stopped() noexcept
{
    siginfo_t info{};
    const auto id = static_cast<id_t>(state_->process.id());
    while (::waitid(P_PID, id, &info, WSTOPPED | WEXITED | WNOWAIT) == -1 && errno == EINTR) {
    }
}

void child_process::resume()
{
    if (!running() || ::kill(state_->process.id(), SIGCONT) == -1)
        throw std::runtime_error("there is no process to resume");
}

int child_process::wait() noexcept
{
    std::error_code ignored;
    state_->process.wait(ignored);
    const int status = state_->process.native_exit_code();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void await_end(pid_t process)
{
    const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (descriptor == -1 && errno == ESRCH)
        return;
    if (descriptor == -1)
        throw std::system_error(errno, std::generic_category(), "pidfd_open");
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 60'000);
    ::close(descriptor);
    if (ready != 1)
        throw std::runtime_error("process " + std::to_string(process) + " goes on");
}

std::string this_program()
{
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

} // namespace holdfast::test
