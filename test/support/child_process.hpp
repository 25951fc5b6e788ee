#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct child_options {
    /// Standard streams that are pipes to this process. The others are inherited.
    enum class pipes { none, output, input_and_output } piped = pipes::output;
    /// In its own process group Ctrl-C does not reach it: only this process ends it.
    bool own_group = true;
};

/// A program that runs as a child of this process. It inherits no descriptors except its standard
/// streams. The destructor kills it if it still runs.
///
/// It also ends with the thread that started it: the kernel ties it to that thread, not to the
/// process. So start it on a thread that lives as long as it is needed, such as the main thread.
class child_process {
public:
    /// `words` are the program and its arguments. A name without a slash is looked up in the PATH.
    /// Throws if the program cannot be started.
    explicit child_process(const std::vector<std::string>& words, child_options options = {});
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&& other) noexcept;
    ~child_process();

    pid_t pid() const noexcept;    ///< -1 when it has ended
    bool running() const noexcept; ///< true also while it is paused

    /// Waits for the next line of its output. Empty at the end of the output; an incomplete line
    /// does not count.
    std::string read_line();
    /// Writes a line to its input. Throws if it does not read any more (if SIGPIPE is ignored).
    void write_line(const std::string& line);
    /// Whether read_line() would return at once, if it writes whole lines.
    bool has_output() const;
    /// The reading end of its output, for other readers than read_line(). It belongs to this
    /// object.
    int output() const noexcept;

    void kill() noexcept;               ///< SIGKILL; returns when it has ended
    void ask_to_end() noexcept;         ///< SIGTERM
    void pause();                       ///< SIGSTOP; returns when it has stopped
    void wait_until_stopped() noexcept; ///< or ended; for a child that stops itself
    void resume();                      ///< SIGCONT
    /// Waits until it has ended. Returns its exit status, or 128 and the number of the signal that
    /// has ended it.
    int wait() noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Returns when the process has ended, whether or not its parent has noticed. It need not be a
/// child of this process. Throws after a minute.
void await_end(pid_t process);

/// The path of this program, to start it once more.
std::string this_program();

} // namespace holdfast::test
