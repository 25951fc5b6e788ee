#include <holdfast/redis.hpp>

#include <holdfast/memory.hpp>

#include "core/backend.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;

BOOST_AUTO_TEST_SUITE(values_redis)

namespace {

template <class Make>
std::string objection_to(Make make)
{
    try {
        make();
    } catch (const std::invalid_argument& refusal) {
        return refusal.what();
    }
    return {};
}

std::string objection(const std::vector<endpoint>& sentinels, const std::string& service = "m",
    const sentinel_options& options = {})
{
    return objection_to([&] { redis_sentinel(sentinels, service, options); });
}

bool has(const std::string& text, std::string_view part)
{
    BOOST_TEST_INFO(text);
    return text.find(part) != text.npos;
}

} // namespace

// Each backend says what it is, and what it promises.
BOOST_AUTO_TEST_CASE(stores)
{
    const auto about = [](const backend& store) {
        return store.factory().make(1)->about();
    };
    BOOST_TEST(
        about(redlock({"redis://a", "redis://b", "redis://c"})).name == "redis redlock, 3 nodes");
    BOOST_TEST((about(redlock({"redis://a", "redis://b"})).promise == guarantee::majority));
    BOOST_TEST(about(redlock({"redis://a"})).name == "redis redlock, 1 node");
    BOOST_TEST((about(redlock({"redis://a"})).promise == guarantee::one_node));
    BOOST_TEST(about(redis_primary("redis://u:s3cret@a:1")).name == "redis primary a:1");
    BOOST_TEST((about(redis_primary("redis://a")).promise == guarantee::primary));
    BOOST_TEST(about(redis_sentinel({"redis://:s3cret@a"}, "my-master")).name ==
               "redis sentinel my-master");
    BOOST_TEST((about(redis_sentinel({"redis://a"}, "m")).promise == guarantee::primary));
    BOOST_TEST(about(redis_cluster({"redis://:s3cret@a"})).name == "redis cluster");
    BOOST_TEST((about(redis_cluster({"redis://a"})).promise == guarantee::primary));
    BOOST_TEST(about(memory()).name == "memory");
    BOOST_TEST((about(memory()).promise == guarantee::process));
}

BOOST_AUTO_TEST_CASE(bad_clusters)
{
    const auto says = [](const std::vector<endpoint>& seeds, const redlock_options& options = {}) {
        return objection_to([&] { redis_cluster(seeds, options); });
    };
    BOOST_TEST(says({"redis://:s3cret@a", "redis://:s3cret@b"}).empty());
    BOOST_TEST(has(says({}), "redis_cluster: no seeds"));
    BOOST_TEST(has(says(std::vector<endpoint>(16, "redis://a")), "at most 15"));
    BOOST_TEST(has(says({"redis://a", "redis://a"}), "listed twice"));
    BOOST_TEST(has(says({"unix:///a"}), "is a unix socket"));
    BOOST_TEST(has(says({"redis://a/1"}), "a cluster has none"));
    const std::string logins = says({"redis://:s3cret@a", "redis://b"});
    BOOST_TEST(has(logins, "the same user and password"));
    BOOST_TEST(!has(logins, "s3cret"));
    BOOST_TEST(has(says({"redis://a", "rediss://b"}), "others have not"));
    BOOST_TEST(has(says({"rediss://a"}), "redlock_options::tls"));
    redlock_options fenced;
    fenced.fencing = fencing::on;
    BOOST_TEST(has(says({"redis://a"}, fenced), "fencing cannot be used"));
}

// One node, and the sentinels beside it. None is a node of votes.
BOOST_AUTO_TEST_CASE(good_sentinels)
{
    const auto core =
        redis_sentinel({"redis://a", "redis://b:1", "unix:///c"}, "m").factory().make(1);
    BOOST_TEST(core->connections().size() == 4u);
    BOOST_TEST(core->connections()[1]->target().host == "a");
    BOOST_TEST(core->connections()[3]->target().path == "/c");
    BOOST_TEST(core->nodes().stats().size() == 1u);
    BOOST_TEST(core->nodes().stats()[0].address == "m");
}

BOOST_AUTO_TEST_CASE(bad_sentinels)
{
    BOOST_TEST(has(objection({}), "redis_sentinel: no sentinels"));
    BOOST_TEST(has(objection({"redis://a", "redis://a"}), "a:6379 is listed twice"));
    BOOST_TEST(has(objection({"redis://a/3"}), "a:6379/3 has a database"));
    BOOST_TEST(has(objection({"rediss://a"}), "sentinel_options::sentinel_tls is not set"));
    for (const std::string& name : {std::string(), std::string("a b"), std::string("a\r\nb"),
             std::string("a/b"), std::string(129, 'a')})
        BOOST_TEST(has(objection({"redis://a"}, name), "the service name must have"));
    sentinel_options options;
    options.primary.connect_timeout = 0ms;
    BOOST_TEST(has(objection({"redis://a"}, "m", options), "redis_sentinel: connect_timeout"));
}

// The order of tokens would not survive a fail-over.
BOOST_AUTO_TEST_CASE(no_fencing)
{
    redlock_options fenced;
    fenced.fencing = fencing::on;
    BOOST_TEST(has(objection_to([&] { redis_primary("redis://a", fenced); }),
        "redis_primary: fencing cannot be used"));
    sentinel_options options;
    options.primary = fenced;
    BOOST_TEST(has(objection({"redis://a"}, "m", options), "fencing cannot be used"));
    BOOST_TEST(objection_to([&] { redlock({"redis://a"}, fenced); }) == "");
}

BOOST_AUTO_TEST_CASE(bad_primaries)
{
    BOOST_TEST(has(objection_to([] { redis_primary("rediss://a"); }),
        "redis_primary: a:6379 has the scheme rediss"));
    redlock_options options;
    options.max_requests = 1;
    BOOST_TEST(
        has(objection_to([&] { redis_primary("redis://a", options); }), "max_requests is below"));
}

// A prefix is short and plain, and neither a hash tag nor the beginning of a key of fencing.
BOOST_AUTO_TEST_CASE(key_prefixes)
{
    const auto with = [](const std::string& prefix) {
        redlock_options options;
        options.key_prefix = prefix;
        return objection_to([&] { redlock({"redis://a"}, options); });
    };
    BOOST_TEST(with("") == "");
    BOOST_TEST(with("shop:locks:") == "");
    BOOST_TEST(with(std::string(64, 'a')) == "");
    BOOST_TEST(has(with(std::string(65, 'a')), "key_prefix must be at most 64"));
    BOOST_TEST(has(with("a b"), "key_prefix must be at most 64"));
    BOOST_TEST(has(with("a\n"), "key_prefix must be at most 64"));
    BOOST_TEST(has(with("{shop}:"), "key_prefix must not contain a brace"));
    BOOST_TEST(has(with("hf:"), "key_prefix must not begin with \"hf:\""));
}

BOOST_AUTO_TEST_SUITE_END()
