#pragma once

#include "tools/cli.hpp"

#include <sys/types.h>
#include <termios.h>

#include <string>

namespace holdfast::test {

/// A program on a terminal of its own. It is killed with this object.
class pseudo_terminal {
public:
    /// `arguments` are those of env(1): variables, then the program and its arguments.
    explicit pseudo_terminal(
        const words& arguments, unsigned short rows = 24, unsigned short columns = 80);
    pseudo_terminal(const pseudo_terminal&) = delete;
    pseudo_terminal& operator=(const pseudo_terminal&) = delete;
    ~pseudo_terminal();

    /// What a person at the keyboard would do.
    void type(const std::string& text);

    /// What the program writes, up to and with `mark`. Throws after a minute.
    std::string read_until(const std::string& mark);

    void resize(unsigned short rows, unsigned short columns);
    /// To all processes of the program's group.
    void signal(int number);
    /// The modes of the terminal that programs change.
    tcflag_t modes() const;

    /// Waits until the program has ended or stopped. As waitpid(2).
    int wait();

private:
    pid_t pid_ = -1;
    int keyboard_ = -1;
    int line_ = -1;    // the program's end of the terminal
    std::string rest_; // read, and not returned yet
};

} // namespace holdfast::test
