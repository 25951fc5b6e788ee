#include "etcd/failure.hpp"

#include "etcd/wire/grpc.hpp"

namespace holdfast::etcd_store {

failure failure_of(int status, std::string_view text) noexcept
{
    using remedy = failure::remedy;
    using effect = failure::effect;
    namespace code = wire::status;
    const auto says = [text](std::string_view part) {
        return text.find(part) != text.npos;
    };
    switch (status) {
    case code::not_found:
        if (says("lease not found"))
            return {errc::unreachable, remedy::new_lease, effect::none};
        return {errc::node_error, remedy::none, effect::none};
    case code::permission_denied:
        return {errc::permission_denied, remedy::none, effect::none};
    case code::unauthenticated:
        return {errc::unreachable, remedy::login_again, effect::none};
    case code::invalid_argument:
        if (says("auth store is old"))
            return {errc::unreachable, remedy::login_again, effect::none};
        if (says("user name is empty")) // authentication was switched on after the connection began
            return {errc::authentication_failed, remedy::login_again, effect::none};
        if (says("authentication failed"))
            return {errc::authentication_failed, remedy::none, effect::none};
        return {errc::node_error, remedy::none, effect::none};
    case code::resource_exhausted:
        if (says("too many requests"))
            return {errc::overloaded, remedy::later, effect::none};
        // The space of the database is used up. A server that notices that when it executes a
        // transaction executes it all the same, and then answers so.
        return {errc::node_error, remedy::none, effect::possible};
    case code::unimplemented:
        return {errc::misconfigured_node, remedy::none, effect::none};
    default: // also what is not known: it may have run
        return {errc::unreachable, remedy::other_member, effect::possible_later};
    }
}

} // namespace holdfast::etcd_store
