#pragma once

#include "core/backend.hpp"
#include "io/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;

// The transports of all connections and descriptors of a backend.
class transports {
public:
    transports(
        transport_owner& owner, core::backend_core& served, const asio::any_io_executor& executor);

    bool empty() const noexcept { return all_.empty(); }
    // Opens and closes as requested. True if that changed anything.
    bool follow(core::time_point now);
    void flush(core::time_point now);
    bool has_output() const noexcept;

    // All bytes that had arrived by this time have been read and processed. If that is not yet
    // known for `now`, it is found out by a handler of the executor. At most `longest_lag` before
    // `now`.
    core::time_point heard_until(core::time_point now);
    // In a child process: see transport::leave_socket().
    void leave_sockets() noexcept;
    // Closes and destroys all.
    void clear() noexcept;

private:
    void confirm_arrivals();

    // The backend may have more connections than before.
    void serve_new();

    handler_guard guarded_;
    transport_owner& owner_;
    core::backend_core& served_;
    const asio::any_io_executor executor_;
    std::vector<std::unique_ptr<transport>> all_;
    std::size_t connections_ = 0; // that are served
    bool confirming_ = false;
};

} // namespace holdfast::io
