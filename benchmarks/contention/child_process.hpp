#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace contention {

/// This program again, with `words` as its arguments and `--parent`; its standard input and output
/// are pipes to us. The destructor kills it and waits for it, unless it has ended.
class child_process {
public:
    explicit child_process(const std::vector<std::string>& words);
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process();

    /// The next line that it prints, without its end. Throws if it has ended instead.
    std::string line();
    void expect(const std::string& line);
    void say(const std::string& line);
    /// Until it has ended. Throws unless it ended well.
    void finish();

private:
    int wait() noexcept;

    pid_t pid_ = -1;
    std::FILE* output_ = nullptr;
    int input_ = -1;
};

/// In the child: the kernel ends us with our parent. False if it has died before we could ask.
bool follow_parent(pid_t parent);

} // namespace contention
