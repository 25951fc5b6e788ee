#pragma once

#include <sys/types.h>

namespace holdfast::cli {

/// The controlling terminal, if there is one: gives it to the command and takes it back, as a shell
/// does for its jobs.
class terminal {
public:
    terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;
    ~terminal();

    bool exists() const noexcept { return descriptor_ != -1; }

    /// Makes `group` the foreground group, if that is now the group of this process. Otherwise this
    /// process is in the background, and nothing happens.
    void give_to(pid_t group) const noexcept;

    /// Makes the group of this process the foreground group, if that is now `group`.
    /// Returns whether it was.
    bool take_from(pid_t group) const noexcept;

    /// Stops the group of this process with this signal (SIGTSTP, SIGTTIN, SIGTTOU). Returns when
    /// it is continued: true. False if the system does not stop it, because no shell could continue
    /// it.
    bool stop_here(int signal) const noexcept;

private:
    void set_foreground(pid_t group) const noexcept;

    int descriptor_;
};

} // namespace holdfast::cli
