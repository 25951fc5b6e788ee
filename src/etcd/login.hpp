#pragma once

#include "etcd/member_settings.hpp"
#include "etcd/wire/grpc.hpp"

#include <holdfast/error.hpp>

#include <optional>
#include <string>

namespace holdfast::etcd_store {

// The login to a member, on one connection.
class login {
public:
    // None: it has succeeded, or needs not be.
    struct result {
        errc trouble{};
        std::string reason{};
    };

    void begin(wire::grpc_calls& calls, const cluster_settings& settings);
    bool is_of(wire::stream_id call) const noexcept { return call != 0 && call == call_; }
    // Nothing while more has to arrive. Precondition: is_of(what.call).
    std::optional<result> take(const wire::arrival& what);
    // Another connection knows nothing of it.
    void forget() noexcept;

    // Goes with each call; empty without a login. Secret.
    const std::string& token() const noexcept { return token_; }

private:
    wire::stream_id call_ = 0;
    std::string token_;
};

} // namespace holdfast::etcd_store
