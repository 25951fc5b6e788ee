// Negative controls: locks with a known mistake. The checks of the other tests must find it;
// otherwise they prove nothing.
#include "integration/workers.hpp"

#include <boost/test/data/test_case.hpp>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(wrong_locks)

// The work takes longer than the lock lasts. The holder knows that its lock is over, but still
// deletes a key.
job overlong(const std::string& lock)
{
    return {.lock = lock, .resource = "short", .ttl = 60ms, .work = 90ms};
}

job brief(const std::string& lock)
{
    return {.lock = lock, .resource = "short", .ttl = 10s, .work = 5ms};
}

struct contenders {
    void start(const job& work)
    {
        for (int i = 0; i < 3; ++i)
            workers.add(work, urls(nodes.nodes));
    }

    cluster nodes{3};
    team workers;
};

const std::vector<std::string> without_exclusion{"no_lock", "one_node"};

BOOST_DATA_TEST_CASE_F(
    contenders, the_history_shows_a_lock_with_two_holders, without_exclusion, lock)
{
    start(brief(lock));
    workers.wait_until("an overlap", [&] { return !overlaps(workers.history()).empty(); });
    workers.end_all();
}

BOOST_DATA_TEST_CASE_F(
    contenders, the_protected_number_shows_a_lock_with_two_holders, without_exclusion, lock)
{
    start(brief(lock));
    workers.wait_until("a lost number", [&] { return !workers.lost_numbers().empty(); });
    workers.end_all();
}

BOOST_FIXTURE_TEST_CASE(the_history_shows_a_release_without_compare, contenders)
{
    start(overlong("no_compare"));
    workers.wait_until("an overlap", [&] { return !overlaps(workers.history()).empty(); });
    workers.end_all();
}

BOOST_FIXTURE_TEST_CASE(the_same_client_without_a_mistake_passes, contenders)
{
    start(brief("no_mistake"));
    workers.wait_for_holds(100);
    workers.finish();
}

BOOST_FIXTURE_TEST_CASE(the_same_client_passes_when_its_work_takes_too_long, contenders)
{
    start(overlong("no_mistake"));
    workers.wait_for_holds(20);
    workers.end_all();
    BOOST_TEST(overlaps(workers.history()).empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
