#include "tools/store_cases.hpp"

namespace holdfast::test {

void complains(const words& arguments, const std::string& about, const words& variables)
{
    const auto result = run_cli(arguments, variables);
    BOOST_TEST(result.status == 125);
    BOOST_TEST(has(result.output, about), result.output);
    BOOST_TEST(!has(result.output, secret), result.output);
}

void run_complains(words options, const std::string& about, const words& variables)
{
    options.insert(options.end(), {"run", "job", "--", "true"});
    complains(options, about, variables);
}

void expect_free(const words& variables)
{
    const auto free = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(free.status == 1, free.output);
    BOOST_TEST(has(free.output, "free"), free.output);
}

void expect_held(const words& variables, const words& parts)
{
    const auto held = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(held.status == 0, held.output);
    for (const std::string& part : parts)
        BOOST_TEST(has(held.output, part), held.output);
    BOOST_TEST(!has(held.output, "unconfirmed"), held.output);
    const auto all = run_cli({"list", "jobs/"}, variables);
    BOOST_TEST(all.status == 0, all.output);
    BOOST_TEST(has(all.output, "jobs/nightly"), all.output);
    BOOST_TEST(!has(run_cli({"list", "other"}, variables).output, "nightly"));
    const auto page = run_cli({"top", "--batch", "--count", "1"}, variables);
    BOOST_TEST(page.status == 0, page.output);
    BOOST_TEST(has(page.output, "jobs/nightly"), page.output);
    const auto json = run_cli({"--json", "inspect", "jobs/nightly"}, variables);
    BOOST_TEST(has(json.output, "\"held\":true"), json.output);
}

void expect_sql_complaints(const std::string& store)
{
    run_complains({"--store", store, "--fenced"}, "fencing tokens");
    run_complains({"--store", store, "--sentinel", "s"}, "for Redis");
    run_complains({"--store", store, "--prefix", "p"}, "--table");
    run_complains({"--store", store, "--table", "a b"}, "table must be");
    run_complains({"--store", store, "--store", store}, "one URI");
    complains({"inspect", "--store", store, "job"}, "cannot inspect");
    complains({"release", "--force", "--yes", "--store", store, "job"}, "cannot release");
}

void run_with_table(const words& variables, const std::function<void()>& make_table)
{
    const words job{"run", "nightly", "--", "sh", "-c", "echo token $HOLDFAST_TOKEN"};
    const auto missing = run_cli(job, variables);
    BOOST_TEST(missing.status == 125);
    BOOST_TEST(has(missing.output, "no table holdfast_locks"), missing.output);
    make_table();
    const auto run = run_cli(job, variables);
    BOOST_TEST(run.status == 0, run.output);
    BOOST_TEST(has(run.output, "token 1"), run.output);
}

void show_and_take_away(const words& variables, const std::function<void()>& make_table,
    const std::string& ttl, bool told)
{
    const auto missing = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(missing.status == 125, missing.output);
    BOOST_TEST(has(missing.output, "no table holdfast_locks"), missing.output);
    make_table();
    expect_free(variables);
    const words release{"release", "--force", "--yes", "jobs/nightly"};
    BOOST_TEST(run_cli(release, variables).status == 1);

    child_process holder = hold("jobs/nightly", variables, ttl);
    expect_held(variables, {"ttl left", "token"});
    const auto ping = run_cli({"ping", "--timeout", "30s"}, variables);
    BOOST_TEST(ping.status == 0, ping.output);
    BOOST_TEST(has(ping.output, "answers in"), ping.output);

    const auto taken = run_cli(release, variables);
    BOOST_TEST(taken.status == (told ? 0 : 3), taken.output);
    BOOST_TEST(has(taken.output, told ? "the holder was told" : "could not be told"), taken.output);
    BOOST_TEST(run_cli({"inspect", "jobs/nightly"}, variables).status == 1);
    holder.wait(); // it has lost its lock, and learns it at the latest with its next renewal
}

} // namespace holdfast::test
