#pragma once

#include "holdfast/stores.hpp"

#include <holdfast/inspect.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/resource.hpp>

#include <boost/asio/io_context.hpp>

#include <stdexcept>
#include <string>

namespace holdfast::cli {

/// Asks a store about locks. It waits in each call, and takes part in no lock.
class observer {
public:
    /// A question that has no answer: what was asked, and why not. No password is in it.
    struct failure : std::runtime_error {
        using std::runtime_error::runtime_error;
    };

    explicit observer(const store_settings& store, use purpose = use::looking);

    struct release_result {
        forced_release done;
        bool was_held = false; ///< a majority had the key of one owner
    };

    /// As `locker::inspect()`, `list()` and `force_release()`. Throw `failure`. The last one needs
    /// `use::taking`.
    resource_report inspect(const resource& what);
    lock_list list(const std::string& prefix);
    release_result force_release(const resource& what);

private:
    template <class Result, class Start>
    Result wait_for(const std::string& purpose, error_code& error, const Start& start);

    asio::io_context io_;
    locker locker_;
};

/// Why a question has no answer: the error, and the nodes that are in trouble.
std::string reason_of(error_code error, const locker& asked);

} // namespace holdfast::cli
