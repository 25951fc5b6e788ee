#include "zookeeper/failure.hpp"

#include "zookeeper/wire/messages.hpp"

namespace holdfast::zookeeper_store {

failure failure_of(std::int32_t code) noexcept
{
    using remedy = failure::remedy;
    switch (code) {
    case wire::code::no_auth:
        return {errc::permission_denied, remedy::none};
    case wire::code::auth_failed:
        return {errc::authentication_failed, remedy::other_server};
    case wire::code::session_expired:
        return {errc::unreachable, remedy::new_session};
    case wire::code::session_moved:
    case wire::code::operation_timeout:
    case wire::code::not_read_only:
        return {errc::unreachable, remedy::other_server};
    case wire::code::throttled:
        return {errc::overloaded, remedy::none};
    case wire::code::invalid_acl:
    case wire::code::unimplemented:
        return {errc::misconfigured_node, remedy::none};
    case wire::code::bad_arguments:
    case wire::code::marshalling_error:
    case wire::code::quota_exceeded:
    default:
        return {errc::node_error, remedy::none};
    }
}

std::string in_words(std::int32_t code)
{
    switch (code) {
    case wire::code::no_auth:
        return "the access rights of a node forbid it";
    case wire::code::auth_failed:
        return "the login was refused";
    case wire::code::session_expired:
        return "the session has expired";
    case wire::code::session_moved:
        return "the session is used over another connection";
    case wire::code::quota_exceeded:
        return "a quota is used up";
    case wire::code::throttled:
        return "the server has too many requests";
    case wire::code::invalid_acl:
        return "the acl is not valid there, or needs a login";
    default:
        return "error " + std::to_string(code) + " of the server";
    }
}

} // namespace holdfast::zookeeper_store
