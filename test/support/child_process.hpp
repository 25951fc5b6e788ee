#pragma once

#include "support/redis_client.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

extern char** environ;

namespace holdfast::test {

/// A program started by a test, which reads its output. The destructor kills it if it still runs.
class child_process {
public:
    explicit child_process(std::vector<std::string> words)
    {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) == -1)
            fail("pipe");
        output_ = ends[0];
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::vector<char*> argv;
        for (auto& word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        const int error =
            ::posix_spawn(&pid_, argv.front(), &actions, nullptr, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        if (error != 0) {
            ::close(output_);
            throw std::system_error(error, std::generic_category(), words.front());
        }
    }

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    ~child_process()
    {
        kill();
        ::close(output_);
    }

    /// Waits for the next line of its output. Empty at the end of the output.
    std::string read_line()
    {
        std::string line;
        char c = 0;
        for (;;) {
            const auto count = ::read(output_, &c, 1);
            if (count == -1 && errno == EINTR)
                continue;
            if (count != 1)
                return {}; // an incomplete line does not count
            if (c == '\n')
                return line;
            line += c;
        }
    }

    /// Kills it, like a crash. Returns when it has ended. Its output can still be read.
    void kill()
    {
        if (pid_ == -1)
            return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) {
        }
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

} // namespace holdfast::test
