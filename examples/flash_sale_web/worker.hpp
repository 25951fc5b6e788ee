#pragma once

#include "json_lines.hpp"
#include "support/child_process.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <string>

namespace flash_sale_web {

/// This program once more, as a child that reads and prints lines of JSON.
class worker {
public:
    /// `role` and `given`: its arguments. `handle` is called for each line that it prints, from
    /// `executor`. Its unexpected end is an exception out of the executor's context.
    worker(asio::any_io_executor executor, std::string role, const std::string& given,
        std::function<void(const json::object&)> handle);

    /// Writes a line to its input.
    void tell(const json::object& what);

    holdfast::test::child_process& process() { return process_; }

private:
    holdfast::test::child_process process_;
    asio::posix::stream_descriptor output_;
};

} // namespace flash_sale_web
