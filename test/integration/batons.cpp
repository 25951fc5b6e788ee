// Leases that are given to other processes as they are: several lockers, real nodes.
#include "integration/relay.hpp"

#include <boost/test/data/test_case.hpp>

#include <array>
#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(batons)

std::string token_of(const std::string& value)
{
    return value.substr(0, relay::token_length);
}

// All keys are those of the lease with this token. The one at the queue node names its holder, too.
void check_keys(relay& r, const std::string& token, const std::string& place)
{
    const auto now = r.values();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (i == r.queue_node)
            BOOST_TEST(now[i].starts_with(token + place + " "), now[i]);
        else
            BOOST_TEST(now[i] == token);
    }
}

// The lease of the holder was given: all others are kept out, and it is renewed at all nodes.
task use_given_lease(scene& s, cluster& c, relay& r, std::size_t holder, const std::string& token,
    const std::string& place)
{
    for (std::size_t other = 0; other < 3; ++other) {
        if (other == holder)
            continue;
        lease none = co_await r.lock(other).try_acquire();
        BOOST_TEST(!none);
    }
    c.command({"PEXPIRE", s.resource, "20000"});
    co_await r.held.extend();
    for (std::size_t i = 0; i < c.size(); ++i) {
        while (std::stoi(c.nodes[i].command({"PTTL", s.resource})) < 25'000)
            co_await pause(1ms);
    }
    BOOST_TEST(r.held.held());
    check_keys(r, token, place);
}

// Three lockers, until the lease has been given three times in a row.
task give_on(scene& s, cluster& c)
{
    relay r(s, c, relay::patient());
    co_await r.start();
    std::string token = token_of(r.values().at(r.queue_node));
    constexpr int wanted = 3;
    attempts tries(wanted * attempts::most); // counts those that begin anew
    std::size_t holder = 1;
    tries.next();
    for (int given = 0; given < wanted;) {
        const std::size_t next = (holder + 1) % 3;
        call<lease> waiting;
        const std::string place = token_of(co_await r.wait(r.lock(next), waiting));
        const lease& giver = r.held;
        const release_outcome outcome = co_await r.release();
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(!giver.held());
        co_await r.be_granted(waiting);
        holder = next;
        if (r.was_given()) {
            ++given;
            check_keys(r, token, place);
            co_await use_given_lease(s, c, r, holder, token, place);
        } else {
            given = 0;
            tries.next();
            token = token_of(r.values().at(r.queue_node));
        }
    }
    const release_outcome outcome = co_await r.held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_lease_goes_from_one_process_to_the_next)
{
    for (const std::size_t nodes : {1u, 3u, 5u}) {
        cluster c(nodes);
        play(c.store(), 3, [&](scene& s) { return give_on(s, c); });
        BOOST_TEST(c.empty_within(0s));
    }
}

task forget_the_scripts(scene& s, cluster& c)
{
    relay r(s, c, relay::patient());
    co_await r.start();
    attempts tries;
    std::size_t next = 0;
    do {
        tries.next();
        call<lease> waiting;
        co_await r.wait(r.lock(next), waiting);
        next = 1 - next;
        c.command({"SCRIPT", "FLUSH"});
        co_await r.release();
        co_await r.be_granted(waiting);
    } while (!r.was_given());
    BOOST_TEST(r.was_asked());
    BOOST_TEST(
        r.queue().command({"SCRIPT", "EXISTS", std::string(redis::baton_script.digest)}) == "1");
    co_await r.held.release();
}

BOOST_AUTO_TEST_CASE(a_node_that_has_forgotten_the_script_gets_its_text)
{
    cluster c(3, relay::record_requests);
    play(c.store(), 2, [&](scene& s) { return forget_the_scripts(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

// A client of an earlier version: its messages and requests, by hand.
class old_client {
public:
    old_client(redis_server& node, std::string resource)
        : resource_(std::move(resource)),
          queue_(resource_ + std::string(redis::queue_suffix)),
          node_(node),
          socket_(open_socket()),
          reader_(socket_)
    {
        const auto address = loopback(node.port());
        const timeval limit{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        BOOST_REQUIRE(
            ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        const std::string listen = encode_command({"SUBSCRIBE", channel});
        BOOST_REQUIRE(::send(socket_, listen.data(), listen.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(listen.size()));
        BOOST_REQUIRE(reader_.read() == "subscribe\n" + channel + "\n1");
    }
    old_client(const old_client&) = delete;
    old_client& operator=(const old_client&) = delete;
    ~old_client() { ::close(socket_); }

    void wait() { BOOST_TEST(node_.command({"ZADD", queue_, "0", place}) == "1"); }
    std::string message() { return reader_.read(); }
    std::string confirm()
    {
        return node_.command({"EVAL", std::string(redis::enqueue_script.text), "3", resource_,
            queue_, resource_ + std::string(redis::window_suffix), token, "500", place, "30000",
            "3000", "1"});
    }
    std::string release()
    {
        return node_.command({"EVAL", std::string(redis::pass_on_script.text), "2", resource_,
            queue_, token, "500", ""});
    }

    const std::string channel = "an old channel", token = std::string(relay::token_length, 'o'),
                      place = token + std::string(redis::reference_length, '0') + channel;

private:
    std::string resource_, queue_;
    redis_server& node_;
    int socket_;
    reply_reader reader_;
};

task give_to_an_old_client(scene& s, cluster& c)
{
    relay r(s, c, relay::patient());
    attempts tries;
    for (bool asked = false; !asked;) {
        tries.next();
        co_await r.start();
        r.forget_requests();
        call<lease> behind;
        co_await r.wait(r.lock(2), behind);
        old_client old(r.queue(), s.resource);
        old.wait();
        const release_outcome outcome = co_await r.release();
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(old.message() == "message\n" + old.channel + "\n" + old.place.substr(0, 48));
        BOOST_TEST(old.confirm() == "0");
        const bool alone = co_await c.have_copies(s.resource, 1, 5s);
        BOOST_TEST(alone);
        BOOST_TEST(r.values().at(r.queue_node) == old.token);
        asked = r.was_asked();

        c.command({"SET", s.resource, old.token, "NX", "PX", "30000"});
        BOOST_TEST(!behind.done());
        c.command({"EVAL", std::string(redis::release_script.text), "1", s.resource, "x"});
        for (auto& node : c.nodes) {
            if (&node != &r.queue())
                node.command({"DEL", s.resource});
        }
        BOOST_TEST(old.release() == "2");
        co_await r.be_granted(behind);
        co_await r.held.release();
    }
}

BOOST_AUTO_TEST_CASE(a_client_of_an_earlier_version_gets_its_turn)
{
    cluster c(3, relay::record_requests);
    play(c.store(), 3, [&](scene& s) { return give_to_an_old_client(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

struct denial {
    const char* what;
    friend std::ostream& operator<<(std::ostream& out, const denial& d) { return out << d.what; }
};

backend as_user(cluster& c)
{
    c.command({"ACL", "SETUSER", "worker", "on", ">secret", "~*", "&*", "+@all"});
    std::vector<endpoint> nodes;
    for (auto& node : c.nodes) {
        std::string url = node.url();
        nodes.emplace_back(url.insert(url.find("//") + 2, "worker:secret@"));
    }
    return redlock(nodes);
}

task give_without_the_right(scene& s, cluster& c, std::string denied)
{
    relay r(s, c, relay::patient());
    attempts tries;
    for (bool asked = false; !asked;) {
        tries.next();
        co_await r.start();
        r.forget_requests();
        call<lease> waiting;
        co_await r.wait(r.lock(2), waiting);
        co_await r.held.extend();
        c.command({"ACL", "SETUSER", "worker", denied});
        c.command({"ACL", "LOG", "RESET"});
        const release_outcome outcome = co_await r.held.release();
        BOOST_TEST(outcome == release_outcome::released);
        co_await r.be_granted(waiting);
        asked = r.was_asked();
        const std::string log = r.queue().command({"ACL", "LOG"});
        if (asked)
            BOOST_TEST(log.find("object\n" + denied.substr(1)) != std::string::npos, log);
        BOOST_TEST(!r.was_given());
        co_await r.held.release();
        c.command({"ACL", "SETUSER", "worker", "+@all"});
    }
}

const std::vector<denial> denials{{"-publish"}, {"-zpopmin"}, {"-eval"}};

BOOST_DATA_TEST_CASE(a_node_that_may_not_give_the_lease_deletes_it, denials, each)
{
    cluster c(3, relay::record_requests);
    play(as_user(c), 3, [&](scene& s) { return give_without_the_right(s, c, each.what); });
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
