#pragma once

#include "settings.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <sys/types.h>

namespace flash_sale {

namespace asio = boost::asio;

/// A child process that runs this program as a worker. Its output can be read here. The destructor
/// kills it.
class worker_process {
public:
    worker_process(asio::any_io_executor executor, const worker_settings& given);
    worker_process(const worker_process&) = delete;
    worker_process& operator=(const worker_process&) = delete;
    ~worker_process();

    asio::posix::stream_descriptor& output() noexcept { return output_; }
    pid_t pid() const noexcept { return pid_; }
    bool wait() noexcept; ///< waits until it has ended; returns whether it succeeded

    /// For a worker that has announced to stop itself (SIGSTOP): waits until it has stopped or
    /// ended.
    void wait_until_stopped() noexcept;
    void resume() noexcept; ///< SIGCONT

private:
    asio::posix::stream_descriptor output_;
    pid_t pid_ = -1;
};

} // namespace flash_sale
