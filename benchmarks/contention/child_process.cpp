#include "child_process.hpp"

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace contention {
namespace {

struct pipe_ends {
    int read = -1, write = -1;
};

pipe_ends make_pipe()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == -1)
        throw std::system_error(errno, std::generic_category(), "pipe");
    return {ends[0], ends[1]};
}

// In its own process group, so that Ctrl-C reaches only the parent, which then ends all.
pid_t spawn(std::vector<std::string> words, int input, int output)
{
    words.insert(words.begin(), "contention");
    words.push_back("--parent=" + std::to_string(::getpid()));
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
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
        throw std::system_error(error, std::generic_category(), "cannot start a process");
    return pid;
}

} // namespace

child_process::child_process(const std::vector<std::string>& words)
{
    const pipe_ends input = make_pipe(), output = make_pipe();
    pid_ = spawn(words, input.read, output.write);
    ::close(input.read);
    ::close(output.write);
    input_ = input.write;
    output_ = ::fdopen(output.read, "r");
}

child_process::~child_process()
{
    if (pid_ != -1) {
        ::kill(pid_, SIGKILL);
        wait();
    }
    if (output_ != nullptr)
        std::fclose(output_);
    if (input_ != -1)
        ::close(input_);
}

std::string child_process::line()
{
    std::string all;
    for (int c = std::getc(output_); c != '\n'; c = std::getc(output_)) {
        if (c == EOF)
            throw std::runtime_error("a process has ended too early");
        all += static_cast<char>(c);
    }
    return all;
}

void child_process::expect(const std::string& expected)
{
    const auto got = line();
    if (got != expected)
        throw std::runtime_error(
            "a process has printed '" + got + "' instead of '" + expected + "'");
}

void child_process::say(const std::string& line)
{
    const auto all = line + '\n';
    if (::write(input_, all.data(), all.size()) != static_cast<ssize_t>(all.size()))
        throw std::system_error(errno, std::generic_category(), "cannot write to a process");
}

void child_process::finish()
{
    const int status = wait();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("a process has failed");
}

int child_process::wait() noexcept
{
    int status = 0;
    while (::waitpid(pid_, &status, 0) == -1 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
}

bool follow_parent(pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return ::getppid() == parent;
}

} // namespace contention
