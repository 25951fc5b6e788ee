#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::cli {

class terminal;

/// A command that runs as a child of this process, in a process group that exists.
class program {
public:
    using variables = std::vector<std::pair<std::string, std::string>>;

    struct start_error {
        int number; ///< errno of exec
    };

    /// What has happened to it.
    struct news {
        std::optional<int> exit_status; ///< it has ended: its status, or 128 and the signal
        int ended_by = 0;               ///< the signal that has ended it, if it was one
        std::optional<int> stopped_by;  ///< it was stopped by this signal
    };

    /// Starts it. `words` are the program and its arguments; a name without a slash is looked up
    /// in the PATH. The environment is that of this process with `changed`; an empty value removes
    /// a variable. If this process is in the foreground of a terminal, the group becomes the
    /// foreground group.
    ///
    /// Throws `start_error` if the program cannot be executed, else `std::system_error`.
    program(const std::vector<std::string>& words, const variables& changed, pid_t group,
        const terminal& screen);
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program() = default;

    /// The news since the last call, without waiting.
    news look() noexcept;

    bool ended() const noexcept { return ended_; }

private:
    pid_t pid_ = -1;
    bool ended_ = false;
};

/// Whether a process is in this process group, apart from `group` itself and from processes that
/// have ended. True if it is not known.
bool has_members(pid_t group) noexcept;

} // namespace holdfast::cli
