#pragma once

#include <holdfast/error.hpp>
#include <holdfast/release_outcome.hpp>

#include <boost/asio/error.hpp>

#include <ostream>

// How Boost.Test prints our enumerations when a check fails. It finds these functions by their
// names.
namespace holdfast {

inline std::ostream& boost_test_print_type(std::ostream& out, errc e)
{
    return out << make_error_code(e).message();
}

inline std::ostream& boost_test_print_type(std::ostream& out, condition c)
{
    return out << make_error_condition(c).message();
}

inline std::ostream& boost_test_print_type(std::ostream& out, release_outcome o)
{
    switch (o) {
    case release_outcome::released:
        return out << "released";
    case release_outcome::expired:
        return out << "expired";
    case release_outcome::unconfirmed:
        return out << "unconfirmed";
    }
    return out << "no release_outcome";
}

} // namespace holdfast

namespace holdfast::test {

/// The error of a cancelled operation, in a type that can be printed.
inline const error_code aborted = asio::error::operation_aborted;

} // namespace holdfast::test
