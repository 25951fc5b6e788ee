#pragma once

#include "core/backend.hpp"
#include "redis/node/node_settings.hpp"

#include <holdfast/endpoint.hpp>
#include <holdfast/redlock.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

// Checks the arguments of a backend. Throws `std::invalid_argument` with the name of the backend.
class argument_check {
public:
    explicit argument_check(std::string backend) : backend_(std::move(backend)) {}

    [[noreturn]] void reject(const std::string& what) const;
    // `what`: of what the endpoints are the addresses, in the plural; `distinct`: why each must be
    // another one.
    void endpoints(const std::vector<endpoint>& all, const std::string& what,
        const std::string& distinct) const;
    // No server is ever used in plain text by mistake. `option`: the name of the option `tls`.
    void layer(const std::vector<endpoint>& all, const std::optional<stream_layer>& tls,
        const std::string& option) const;
    void options(const redlock_options& o) const;
    // Fencing is refused, because of the way the store loses data.
    void no_fencing(const redlock_options& o) const;

private:
    void fence(const fencing_options& o) const;
    void range(const char* name, std::chrono::milliseconds value, std::chrono::milliseconds low,
        std::chrono::milliseconds high) const;

    std::string backend_;
};

core::address address_of(const endpoint& where);
// All but the address, the name and the login.
node_settings settings_of(const redlock_options& o);
node_settings settings_of(const endpoint& node, const redlock_options& o);

// A core for these nodes for each locker. Precondition: all arguments have been checked.
backend make_backend(
    std::vector<node_settings> nodes, const redlock_options& o, core::store_info about);

} // namespace holdfast::redis
