#include "process.hpp"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

extern char** environ;

namespace flash_sale {
namespace {

std::vector<std::string> command_line(const worker_settings& given)
{
    std::vector<std::string> words{"flash_sale", "--worker",
        "--parent=" + std::to_string(given.parent),
        "--stock-port=" + std::to_string(given.stock_port),
        "--first-buyer=" + std::to_string(given.first_buyer),
        "--buyers=" + std::to_string(given.buyers),
        "--buyers-per-process=" + std::to_string(given.coroutines),
        "--think=" + std::to_string(given.think_ms)};
    if (given.fenced)
        words.push_back("--fenced");
    if (given.freezes)
        words.push_back("--freezes");
    for (const auto& node : given.nodes)
        words.push_back("--node=" + node);
    return words;
}

// Starts a worker in a separate process group, so that Ctrl-C reaches only the parent, which stops
// all workers.
pid_t spawn(const worker_settings& given, int output)
{
    auto words = command_line(given);
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, "/proc/self/exe", &files, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "cannot start a worker");
    return pid;
}

} // namespace

worker_process::worker_process(asio::any_io_executor executor, const worker_settings& given)
    : output_(std::move(executor))
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == -1)
        throw std::system_error(errno, std::generic_category(), "pipe");
    output_.assign(ends[0]);
    try {
        pid_ = spawn(given, ends[1]);
    } catch (...) {
        ::close(ends[1]);
        throw;
    }
    ::close(ends[1]);
}

worker_process::~worker_process()
{
    if (pid_ != -1) {
        ::kill(pid_, SIGKILL);
        wait();
    }
}

void worker_process::wait_until_stopped() noexcept
{
    siginfo_t info{};
    const auto id = static_cast<id_t>(pid_);
    while (::waitid(P_PID, id, &info, WSTOPPED | WEXITED | WNOWAIT) == -1 && errno == EINTR) {
    }
}

void worker_process::resume() noexcept
{
    if (pid_ != -1)
        ::kill(pid_, SIGCONT);
}

bool worker_process::wait() noexcept
{
    int status = 0;
    while (::waitpid(pid_, &status, 0) == -1 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace flash_sale
