#include "etcd/login.hpp"

#include "etcd/failure.hpp"
#include "etcd/wire/messages.hpp"

#include <utility>

namespace holdfast::etcd_store {

void login::begin(wire::grpc_calls& calls, const cluster_settings& settings)
{
    call_ = calls.begin(
        wire::authenticate_path, wire::authenticate(settings.user, settings.password), {});
}

std::optional<login::result> login::take(const wire::arrival& what)
{
    if (!what.ended) {
        auto token = wire::read_auth_token(what.text);
        if (!token)
            return result{errc::protocol_error, "no token in the answer to the login"};
        token_ = std::move(*token);
        return std::nullopt;
    }
    call_ = 0;
    const bool needless = what.text.find("authentication is not enabled") != std::string::npos;
    if (needless || (*what.ended == wire::status::ok && !token_.empty()))
        return result{};
    if (*what.ended == wire::status::ok)
        return result{errc::protocol_error, "no token in the answer to the login"};
    const failure f = failure_of(*what.ended, what.text);
    return result{
        f.reason == errc::unreachable ? errc::unreachable : errc::authentication_failed, what.text};
}

void login::forget() noexcept
{
    call_ = 0;
    token_.clear();
}

} // namespace holdfast::etcd_store
