#pragma once

#include "settings.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace flash_sale {

/// The servers that store the lock. The destructor stops them.
class lock_servers {
public:
    lock_servers() = default;
    lock_servers(const lock_servers&) = delete;
    lock_servers& operator=(const lock_servers&) = delete;
    virtual ~lock_servers() = default;

    /// For the workers.
    virtual std::vector<std::string> urls() const = 0;
    virtual std::string name(std::size_t server) const { return urls()[server]; }
    virtual std::string title() const = 0; ///< "5 Redis servers"

    /// The running server whose failure does the most harm.
    virtual std::size_t most_important() const = 0;

    virtual void kill(std::size_t server) = 0;   ///< SIGKILL
    virtual void pause(std::size_t server) = 0;  ///< SIGSTOP
    virtual void resume(std::size_t server) = 0; ///< SIGCONT

    /// Whether nothing stands in for a server that fails: it must come back with its data.
    virtual bool is_alone() const { return false; }
    /// Starts a killed server again, with its data. Only if `is_alone()`.
    virtual void restart(std::size_t) {}
};

/// Starts so many servers of this kind. Throws `std::runtime_error` if they cannot be started.
std::unique_ptr<lock_servers> start_lock_servers(store_kind kind, std::size_t count);

} // namespace flash_sale
