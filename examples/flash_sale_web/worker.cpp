#include "worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/json/serialize.hpp>

#include <unistd.h>

#include <exception>
#include <stdexcept>
#include <utility>

namespace flash_sale_web {

using holdfast::test::child_options;

worker::worker(asio::any_io_executor executor, std::string role, const std::string& given,
    std::function<void(const json::object&)> handle)
    : process_({holdfast::test::this_program(), role, given},
          child_options{.piped = child_options::pipes::input_and_output}),
      output_(executor, ::dup(process_.output())) // it closes its descriptor
{
    const auto end = [name = std::move(role)](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
        throw std::runtime_error("a process of the sale has ended: " + name);
    };
    asio::co_spawn(executor, read_json_lines(output_, std::move(handle)), end);
}

void worker::tell(const json::object& what)
{
    process_.write_line(json::serialize(what));
}

} // namespace flash_sale_web
