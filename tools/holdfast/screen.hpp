#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::cli {

/// The terminal at the standard output, used for whole pages. While it is entered, its alternate
/// screen is shown, keys are read one by one and are not echoed. The former state comes back with
/// `leave()`, and with the end of this object.
class screen {
public:
    struct extent {
        std::size_t rows = 24, columns = 80;
    };

    /// Does not enter it yet. Throws `std::runtime_error` if there is no terminal.
    screen();
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;
    ~screen() { leave(); }

    void enter();
    void leave() noexcept;

    extent size() const noexcept;

    /// Replaces the page, in one piece, so that nothing flickers. Each line must be narrower than
    /// the terminal; lines that do not fit into its height are left out.
    void show(const std::vector<std::string>& lines) const;

private:
    void write(const std::string& text) const noexcept;

    termios before_{};
    bool entered_ = false;
};

} // namespace holdfast::cli
