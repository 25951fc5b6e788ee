#include "holdfast/observer.hpp"

#include "holdfast/text.hpp"

#include <boost/asio/io_context.hpp>

#include <optional>
#include <utility>

namespace holdfast::cli {

observer::observer(const store_settings& store, use purpose)
    : locker_(io_.get_executor(), open_store(store, purpose))
{}

template <class Result, class Start>
Result observer::wait_for(const std::string& purpose, error_code& error, const Start& start)
{
    std::optional<Result> result;
    start([&](error_code ec, Result found) {
        error = ec;
        result = std::move(found);
    });
    while (!result)
        io_.run_one();
    if (error && error != errc::not_held)
        throw failure("cannot " + purpose + ": " + reason_of(error, locker_));
    return std::move(*result);
}

resource_report observer::inspect(const resource& what)
{
    error_code error;
    return wait_for<resource_report>("inspect \"" + visible(what.name()) + "\"", error,
        [&](auto done) { locker_.inspect(what, std::move(done)); });
}

lock_list observer::list(const std::string& prefix)
{
    error_code error;
    return wait_for<lock_list>(
        "list the locks", error, [&](auto done) { locker_.list(prefix, std::move(done)); });
}

observer::release_result observer::force_release(const resource& what)
{
    release_result result;
    error_code error;
    result.done = wait_for<forced_release>("release \"" + visible(what.name()) + "\"", error,
        [&](auto done) { locker_.force_release(what, std::move(done)); });
    result.was_held = !error;
    return result;
}

std::string reason_of(error_code error, const locker& asked)
{
    const std::string nodes = describe_nodes(asked.stats());
    return error.message() + (nodes.empty() ? "" : ": " + nodes);
}

} // namespace holdfast::cli
