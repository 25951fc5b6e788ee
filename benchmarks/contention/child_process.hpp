#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace contention {

/// Another process of this program, with `words` and `--parent` as its arguments. Its standard
/// input and output are pipes to this process. The destructor kills it and waits for it, unless it
/// has ended.
class child_process {
public:
    explicit child_process(const std::vector<std::string>& words);
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process();

    /// The next line that it prints, without the line feed. Throws if it has ended instead.
    std::string line();
    void expect(const std::string& line);
    void say(const std::string& line);
    /// Waits until it has ended. Throws unless it ended with status 0.
    void finish();

private:
    int wait() noexcept;

    pid_t pid_ = -1;
    std::FILE* output_ = nullptr;
    int input_ = -1;
};

/// In the child: lets the kernel end this process with its parent. False if the parent has already
/// ended.
bool follow_parent(pid_t parent);

} // namespace contention
