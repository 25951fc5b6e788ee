#include "holdfast/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <stdexcept>

namespace holdfast::cli {

namespace {

// Alternate screen, no cursor, no wrapping of long lines; and back.
constexpr const char* begin_pages = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr const char* end_pages = "\x1b[?7h\x1b[?25h\x1b[?1049l";

} // namespace

screen::screen()
{
    if (::isatty(STDOUT_FILENO) != 1 || ::tcgetattr(STDOUT_FILENO, &before_) != 0)
        throw std::runtime_error("the output is no terminal: use --batch");
}

void screen::enter()
{
    ::tcgetattr(STDOUT_FILENO, &before_);
    termios keys = before_;
    // Not ISIG: Ctrl-C and Ctrl-Z remain signals.
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    entered_ = true;
    ::tcsetattr(STDOUT_FILENO, TCSANOW, &keys);
    write(begin_pages);
}

void screen::leave() noexcept
{
    if (!entered_)
        return;
    entered_ = false;
    write(end_pages);
    ::tcsetattr(STDOUT_FILENO, TCSANOW, &before_);
}

screen::extent screen::size() const noexcept
{
    winsize found{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_row == 0 || found.ws_col == 0)
        return {};
    return {found.ws_row, found.ws_col};
}

void screen::show(const std::vector<std::string>& lines) const
{
    const std::size_t shown = std::min(lines.size(), size().rows);
    std::string page = "\x1b[H";
    for (std::size_t i = 0; i < shown; ++i) // no line break after the last: it would scroll
        page += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
    write(page + "\x1b[J");
}

void screen::write(const std::string& text) const noexcept
{
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t size = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (size >= 0) {
            done += static_cast<std::size_t>(size);
        } else if (errno == EAGAIN) { // another process has made the terminal non-blocking
            pollfd wait{STDOUT_FILENO, POLLOUT, 0};
            ::poll(&wait, 1, 1'000);
        } else if (errno != EINTR) {
            return; // the terminal is gone: a signal or the end of the keys tells
        }
    }
}

} // namespace holdfast::cli
