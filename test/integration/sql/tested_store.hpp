#pragma once

#include <boost/preprocessor/cat.hpp>
#include <boost/preprocessor/stringize.hpp>

// The cases of this folder are compiled into the program of each store of this kind, where
// HOLDFAST_SQL_STORE is the name of its folder. What differs between the stores is in its
// store.hpp.
#include BOOST_PP_STRINGIZE(integration/HOLDFAST_SQL_STORE/store.hpp)

/// Begins the suite <store>_<name>, so that a report says in which store a case has failed.
#define HOLDFAST_SQL_SUITE(name) BOOST_AUTO_TEST_SUITE(BOOST_PP_CAT(HOLDFAST_SQL_STORE, _##name))

namespace holdfast::test {

inline constexpr const char* tested_store = BOOST_PP_STRINGIZE(HOLDFAST_SQL_STORE);

} // namespace holdfast::test
