#pragma once

#include "settings.hpp"
#include "support/child_process.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace flash_sale {

namespace asio = boost::asio;

/// A child process that runs this program as a worker, and its output.
struct worker_process {
    worker_process(asio::any_io_executor executor, const worker_settings& given);

    holdfast::test::child_process process;
    asio::posix::stream_descriptor output;
};

} // namespace flash_sale
