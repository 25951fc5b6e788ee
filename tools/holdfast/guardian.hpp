#pragma once

#include <sys/types.h>

#include <chrono>

namespace holdfast::cli {

/// A process that ends a process group in time, whatever happens to this process.
///
/// It is the leader of a new process group, so the group's number stays in use while it exists. It
/// is told when the group must stop, again each time the lease has been renewed. Without news it
/// sends SIGTERM to the group at the first of these times, and SIGKILL at the second, after which
/// it has ended itself. When this process ends, however that happens, it sends SIGTERM at once,
/// and ends when nothing is left of the group.
///
/// Its clock continues while the machine is suspended.
class guardian {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Starts the process. Call it while this process has one thread. Throws `std::system_error`.
    guardian();
    guardian(const guardian&) = delete;
    guardian& operator=(const guardian&) = delete;
    ~guardian();

    /// Ends the guardian alone, if it still exists. The rest of the group continues. The destructor
    /// does this as well.
    void dismiss() noexcept;

    /// The process group, which is also the process id of the guardian.
    pid_t group() const noexcept { return pid_; }

    /// Whether it still exists. False after it has killed the group, or was killed itself.
    bool running() const noexcept;

    /// When to send SIGTERM, and when to send SIGKILL. Once SIGTERM has been sent, the second time
    /// can only become earlier.
    void schedule(time_point stop, time_point kill) noexcept;

private:
    pid_t pid_ = -1;
    int channel_ = -1;
};

} // namespace holdfast::cli
