#pragma once

// What the tests of all stores beside Redis check.
#include "tools/cli.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace holdfast::test {

/// Runs the program, which must refuse its arguments, say `about`, and not show the secret.
void complains(const words& arguments, const std::string& about, const words& variables = {});

/// The same for `run` with these options.
void run_complains(words options, const std::string& about, const words& variables = {});

/// The lock `jobs/nightly` is shown as free.
void expect_free(const words& variables);

/// It is shown as held, with these parts, by `inspect`; and by `list` and `top`.
void expect_held(const words& variables, const words& parts);

/// Three servers are pinged: all, without one of them, without a majority.
template <class Servers>
void ping_three(Servers& servers, const words& variables)
{
    const auto good = run_cli({"ping", "--timeout", "30s"}, variables);
    BOOST_TEST(good.status == 0, good.output);
    BOOST_TEST(has(good.output, "3 of 3 nodes connected"), good.output);
    BOOST_TEST(has(good.output, "answers in"), good.output);
    const std::size_t leader = servers.leader();
    servers.kill((leader + 1) % 3); // without an election
    const auto one_less = run_cli({"ping", "--timeout", "30s"}, variables);
    BOOST_TEST(one_less.status == 1, one_less.output);
    BOOST_TEST(has(one_less.output, "2 of 3 nodes connected"), one_less.output);
    servers.kill(leader); // the last one has no leader
    const auto no_leader = run_cli({"ping", "--timeout", "30s"}, variables);
    BOOST_TEST(no_leader.status == 2, no_leader.output);
}

// Of stores in a table of a database, which `make_table` makes.

/// `store` is a URI at which there is no server.
void expect_sql_complaints(const std::string& store);

/// `run` works when there is a table, and says before that it is missing. Leaves the resource
/// `nightly` in it.
void run_with_table(const words& variables, const std::function<void()>& make_table);

/// Locks are shown and taken away; the holder of a lease of `ttl` is told at once or not.
void show_and_take_away(const words& variables, const std::function<void()>& make_table,
    const std::string& ttl, bool told);

} // namespace holdfast::test
