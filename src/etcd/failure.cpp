#include "etcd/failure.hpp"

#include "etcd/wire/grpc.hpp"

namespace holdfast::etcd_store {

failure failure_of(int status, std::string_view text) noexcept
{
    using remedy = failure::remedy;
    namespace code = wire::status;
    const auto says = [text](std::string_view part) {
        return text.find(part) != text.npos;
    };
    switch (status) {
    case code::not_found:
        if (says("lease not found"))
            return {errc::unreachable, remedy::new_lease, false};
        return {errc::node_error, remedy::none, false};
    case code::permission_denied:
        return {errc::permission_denied, remedy::none, false};
    case code::unauthenticated:
        return {errc::unreachable, remedy::login_again, false};
    case code::invalid_argument:
        if (says("auth store is old"))
            return {errc::unreachable, remedy::login_again, false};
        if (says("authentication failed") || says("user name is empty"))
            return {errc::authentication_failed, remedy::none, false};
        return {errc::node_error, remedy::none, false};
    case code::resource_exhausted:
        if (says("too many requests"))
            return {errc::overloaded, remedy::later, false};
        return {errc::node_error, remedy::none, false}; // the space of the database is used up
    case code::unimplemented:
        return {errc::misconfigured_node, remedy::none, false};
    default: // also what is not known: it may have run
        return {errc::unreachable, remedy::other_member, true};
    }
}

} // namespace holdfast::etcd_store
