#include "process.hpp"

#include "store_kind.hpp"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace flash_sale {
namespace {

std::vector<std::string> command_line(const worker_settings& given)
{
    std::vector<std::string> words{holdfast::test::this_program(), "--worker",
        "--store=" + name_of(given.store), "--stock-port=" + std::to_string(given.stock_port),
        "--first-buyer=" + std::to_string(given.first_buyer),
        "--buyers=" + std::to_string(given.buyers),
        "--buyers-per-process=" + std::to_string(given.coroutines),
        "--think=" + std::to_string(given.think_ms)};
    if (given.fenced)
        words.push_back("--fenced");
    if (given.freezes)
        words.push_back("--freezes");
    for (const auto& node : given.nodes)
        words.push_back("--node=" + node);
    return words;
}

} // namespace

worker_process::worker_process(asio::any_io_executor executor, const worker_settings& given)
    : process(command_line(given)),
      output(std::move(executor), ::dup(process.output())) // it closes its descriptor
{}

} // namespace flash_sale
