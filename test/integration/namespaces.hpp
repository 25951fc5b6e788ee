#pragma once

#include "support/child_process.hpp"
#include "support/redis_client.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast::test {

/// A separate network without a name. It is removed with this object and the last process in it,
/// even if the test crashes. Needs root.
class network_namespace {
public:
    network_namespace()
    {
        const visit here; // to return
        if (::unshare(CLONE_NEWNET) == -1)
            fail("no new network namespace");
        descriptor_ = open_current();
        ip("link set lo up");
    }

    network_namespace(network_namespace&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1))
    {}

    ~network_namespace()
    {
        if (descriptor_ != -1)
            ::close(descriptor_);
    }

    /// While it lives, this thread is in the namespace, and so are the sockets that it opens and
    /// the programs that it starts. They stay there.
    class visit {
    public:
        visit() : before_(open_current())
        {
            if (::setns(before_, CLONE_NEWNET) == -1) { // is returning allowed?
                ::close(before_);
                fail("no right to change the network");
            }
        }
        explicit visit(const network_namespace& there) : visit()
        {
            if (::setns(there.descriptor_, CLONE_NEWNET) == -1)
                fail("setns");
        }
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        ~visit()
        {
            if (::setns(before_, CLONE_NEWNET) == -1)
                std::terminate(); // no test may go on in the wrong network
            ::close(before_);
        }

    private:
        int before_;
    };

    /// Runs `ip` or another command there. Throws an exception with its output if it fails.
    void ip(const std::string& arguments) const { run("ip " + arguments); }
    void run(const std::string& command) const
    {
        const visit inside(*this);
        child_process shell({"/bin/sh", "-c",
            "export PATH=$PATH:/usr/sbin:/sbin; " + command + " 2>&1 && echo done"});
        std::string all, last;
        for (std::string line; !(line = shell.read_line()).empty(); last = line)
            all += line + " ";
        if (last != "done")
            throw std::runtime_error(command + ": " + all);
    }

    /// The name for "netns" in the arguments of `ip`.
    std::string path() const
    {
        return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
    }

private:
    static int open_current()
    {
        const int current = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        if (current == -1)
            fail("/proc/thread-self/ns/net");
        return current;
    }

    int descriptor_ = -1;
};

} // namespace holdfast::test
