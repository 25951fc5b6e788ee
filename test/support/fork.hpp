#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace holdfast::test {

/// Runs `work` in a forked child process. Waits for its end, and returns whether it succeeded.
template <class Work>
bool in_a_fork(boost::asio::io_context& io, Work work)
{
    io.notify_fork(boost::asio::io_context::fork_prepare);
    const pid_t child = ::fork();
    BOOST_REQUIRE(child != -1);
    if (child == 0) {
        io.notify_fork(boost::asio::io_context::fork_child);
        ::alarm(20); // it must not outlive this process
        ::_exit(work() ? 0 : 1);
    }
    io.notify_fork(boost::asio::io_context::fork_parent);
    int status = 0;
    while (::waitpid(child, &status, 0) == -1 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace holdfast::test
