#include <holdfast/error.hpp>

namespace holdfast {

namespace {

const char* describe(errc e) noexcept
{
    switch (e) {
    case errc::contended:
        return "another holder has the resource";
    case errc::unreachable:
        return "too few nodes gave a usable answer";
    case errc::too_late:
        return "granted, but too little of the lease was left";
    case errc::lease_lost:
        return "the lease is lost";
    case errc::not_held:
        return "the lease was released before, or is empty";
    case errc::authentication_failed:
        return "a node refused the user name or password";
    case errc::permission_denied:
        return "a node's access rules forbid a command that is needed";
    case errc::tls_failed:
        return "the TLS handshake with a node failed";
    case errc::misconfigured_node:
        return "a node is not set up for locks: it is not an independent primary, evicts keys, or "
               "is used with other settings";
    case errc::protocol_error:
        return "a node violates the protocol";
    case errc::fencing_unavailable:
        return "a node cannot issue fencing tokens";
    case errc::key_conflict:
        return "the key of the resource holds data of another type";
    case errc::no_reply:
        return "a node did not answer in time";
    case errc::node_error:
        return "a node answered with an error";
    case errc::overloaded:
        return "the load is higher than the nodes or this process can serve in time";
    case errc::no_random_bits:
        return "the operating system provided no random bits";
    case errc::closed:
        return "the locker is closed, or is draining; or the batcher is closed";
    case errc::batch_failed:
        return "the body of the batch threw an exception";
    case errc::wrong_reply_count:
        return "the body of the batch gave another number of replies than it had requests";
    }
    return "unknown error";
}

condition group_of(errc e) noexcept
{
    switch (e) {
    case errc::contended:
    case errc::too_late:
        return condition::busy;
    case errc::unreachable:
    case errc::no_reply:
    case errc::node_error:
    case errc::overloaded:
    case errc::no_random_bits:
        return condition::unavailable;
    case errc::lease_lost:
    case errc::not_held:
        return condition::not_held;
    case errc::authentication_failed:
    case errc::permission_denied:
    case errc::tls_failed:
    case errc::misconfigured_node:
    case errc::protocol_error:
    case errc::fencing_unavailable:
    case errc::key_conflict:
        return condition::misconfigured;
    case errc::closed:
    case errc::batch_failed:
    case errc::wrong_reply_count:
        break;
    }
    return condition{};
}

const char* describe(condition c) noexcept
{
    switch (c) {
    case condition::busy:
        return "try again later";
    case condition::unavailable:
        return "the nodes are in trouble";
    case condition::not_held:
        return "there is no lease";
    case condition::misconfigured:
        return "the set-up must be corrected";
    }
    return "unknown condition";
}

// Random numbers identify the categories. So errors are equal in a program whose modules have a
// copy of this library each, linked statically.
class category final : public boost::system::error_category {
public:
    category() noexcept : error_category(0x8c1f'52d7'0b3e'96a4) {}

    const char* name() const noexcept override { return "holdfast"; }
    std::string message(int value) const override { return describe(static_cast<errc>(value)); }
};

class grouping final : public boost::system::error_category {
public:
    grouping() noexcept : error_category(0x3a75'e1c8'f496'0d2b) {}

    const char* name() const noexcept override { return "holdfast.condition"; }
    std::string message(int value) const override
    {
        return describe(static_cast<condition>(value));
    }
    bool equivalent(const error_code& code, int value) const noexcept override
    {
        return code.category() == holdfast::error_category() && value != 0 &&
               group_of(static_cast<errc>(code.value())) == static_cast<condition>(value);
    }
};

} // namespace

const boost::system::error_category& error_category() noexcept
{
    static const category instance;
    return instance;
}

const boost::system::error_category& condition_category() noexcept
{
    static const grouping instance;
    return instance;
}

error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), error_category()};
}

boost::system::error_condition make_error_condition(condition c) noexcept
{
    return {static_cast<int>(c), condition_category()};
}

} // namespace holdfast
