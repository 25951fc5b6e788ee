#pragma once

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// Real etcd servers on free loopback ports, which are the members of one cluster.
///
/// The destructor stops them. They also end with the thread that started them, as every child
/// process.
class etcd_cluster {
public:
    /// Returns when all members answer. `arguments` are options of etcd. `scheme`: of the URLs for
    /// clients. Throws `std::runtime_error` with a member's own log.
    explicit etcd_cluster(std::size_t members = 1, std::vector<std::string> arguments = {},
        std::string scheme = "http");
    etcd_cluster(etcd_cluster&&) noexcept;
    etcd_cluster& operator=(etcd_cluster&&) noexcept;
    ~etcd_cluster();

    std::size_t size() const noexcept { return members_.size(); }
    std::string url(std::size_t member = 0) const; ///< for clients
    std::vector<std::string> urls() const;
    std::uint16_t port(std::size_t member = 0) const noexcept; ///< for clients

    void kill(std::size_t member) noexcept; ///< SIGKILL; returns when the process has ended
    void restart(std::size_t member);       ///< with its data; returns when it answers
    void pause(std::size_t member);         ///< SIGSTOP
    void resume(std::size_t member);        ///< SIGCONT

    /// Which member leads. Throws if none does in time.
    std::size_t leader() const;

    /// Runs etcdctl with the running members, and returns its output. Throws if it fails.
    std::string ctl(const std::vector<std::string>& words) const;
    /// The same in the background. It has the input and the output of a pipe.
    child_process start_ctl(const std::vector<std::string>& words) const;

private:
    struct one_member;

    bool start();
    void launch(std::size_t member, bool again);
    bool wait_until_ready();
    std::vector<std::string> ctl_words(const std::vector<std::string>& words) const;

    std::vector<std::string> arguments_;
    std::string scheme_;
    std::vector<std::unique_ptr<one_member>> members_;
};

} // namespace holdfast::test
