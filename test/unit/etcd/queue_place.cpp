#include "etcd/queue_place.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace wire = holdfast::etcd_store::wire;
using holdfast::etcd_store::queue_place;
using state = queue_place::state;

namespace {

struct place_of_k {
    place_of_k() { place.reset("a/", "a/k"); }
    bool is(state expected) const { return place.where() == expected; }

    queue_place place;
};

BOOST_FIXTURE_TEST_SUITE(etcd_queue_place, place_of_k)

BOOST_AUTO_TEST_CASE(the_oldest_key_is_first)
{
    BOOST_TEST(is(state::absent));
    place.listed({{{"a/k", 5}, {"a/later", 6}}, false, 0});
    BOOST_TEST(is(state::first));
    BOOST_TEST(place.created() == 5);
}

BOOST_AUTO_TEST_CASE(it_waits_for_all_older_keys)
{
    place.listed({{{"a/x", 3}, {"a/y", 4}, {"a/k", 5}}, false, 0});
    BOOST_TEST(is(state::waits));
    BOOST_TEST(place.has_others());
    BOOST_TEST(!place.deleted({"a/x", 6}));
    BOOST_TEST(is(state::waits));
    BOOST_TEST(!place.deleted({"a/y", 7}));
    BOOST_TEST(is(state::first));
}

// Go's mutex creates the same key again and again.
BOOST_AUTO_TEST_CASE(a_deletion_before_the_creation_of_a_key_does_not_count)
{
    place.listed({{{"a/x", 3}, {"a/k", 5}}, false, 0});
    BOOST_TEST(!place.deleted({"a/x", 2}));
    BOOST_TEST(is(state::waits));
    BOOST_TEST(!place.deleted({"a/k", 5}));
    BOOST_TEST(is(state::waits));
    BOOST_TEST(place.deleted({"a/k", 6}));
    BOOST_TEST(is(state::absent));
}

BOOST_AUTO_TEST_CASE(keys_of_other_resources_do_not_count)
{
    place.listed({{{"a/b/x", 1}, {"a/", 2}, {"a/k", 5}}, false, 0});
    BOOST_TEST(is(state::first));
    BOOST_TEST(!place.has_others());
}

BOOST_AUTO_TEST_CASE(a_list_that_is_cut_is_asked_for_again_when_it_is_used_up)
{
    place.created_at(500);
    place.listed({{{"a/x", 3}, {"a/y", 4}}, true, 0});
    BOOST_TEST(is(state::waits));
    place.deleted({"a/x", 600});
    place.deleted({"a/y", 601});
    BOOST_TEST(is(state::unclear));
    BOOST_TEST(place.limit() != 0);
    place.listed({{{"a/k", 500}}, false, 0});
    BOOST_TEST(is(state::first));
}

BOOST_AUTO_TEST_CASE(a_list_of_other_resources_alone_is_asked_for_without_a_limit)
{
    place.created_at(500);
    place.listed({{{"a/b/x", 3}, {"a/b/y", 4}}, true, 0});
    BOOST_TEST(is(state::unclear));
    BOOST_TEST(place.limit() == 0);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_not_in_the_list_is_gone)
{
    place.created_at(5);
    place.listed({{{"a/x", 7}}, false, 0});
    BOOST_TEST(is(state::absent));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
