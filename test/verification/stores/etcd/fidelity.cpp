// Compares the model of etcd with a real server: the same requests, by the same protocol, must get
// the same answers.

#include "etcd/requests.hpp"
#include "support/etcd_cluster.hpp"
#include "support/etcd_model_server.hpp"
#include "verification/simulation/dice.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <sstream>
#include <stdexcept>

namespace {

using namespace holdfast;
using namespace holdfast::test;
using namespace holdfast::etcd_store;
using simulation::dice;
using namespace std::chrono_literals;

// Makes calls, one after the other.
class caller {
public:
    virtual ~caller() = default;

    // The answer, or the status and the text of an error.
    wire::arrival call(std::string_view path, const std::string& message)
    {
        const wire::stream_id made = calls_.begin(path, message, {});
        wire::arrival answer;
        for (;;) {
            const wire::arrival next = await(made);
            if (!next.ended)
                answer = next;
            else
                return *next.ended == wire::status::ok ? answer : next;
        }
    }
    // The first answer of a call that goes on. The call is given up.
    wire::arrival first_answer(std::string_view path, const std::string& message)
    {
        const wire::stream_id made = calls_.begin(path, message, {.more_messages = true});
        const wire::arrival answer = await(made);
        calls_.cancel(made);
        return answer;
    }
    // What a watch tells, until it is cancelled if it `ends`, else up to so many deletions.
    wire::watch_reply watch(const std::string& message, bool ends, std::size_t deletions)
    {
        const wire::stream_id made =
            calls_.begin(wire::watch_path, message, {.more_messages = true});
        wire::watch_reply all;
        while (!all.created || (ends ? !all.canceled : all.deletions.size() < deletions)) {
            const auto reply = wire::read_watch(await(made).text);
            BOOST_REQUIRE(reply.has_value());
            all.created = all.created || reply->created;
            all.canceled = reply->canceled;
            all.compacted = reply->compacted;
            all.deletions.insert(
                all.deletions.end(), reply->deletions.begin(), reply->deletions.end());
        }
        calls_.cancel(made);
        return all;
    }

protected:
    // Sends bytes, and returns some that have arrived.
    virtual std::string exchange(const std::string& out) = 0;

private:
    wire::arrival await(wire::stream_id call)
    {
        for (;;) {
            while (auto next = calls_.next()) {
                if (next->call == call)
                    return *next;
            }
            BOOST_REQUIRE(calls_.receive(exchange(calls_.take_output())));
        }
    }

    wire::grpc_calls calls_{"localhost", false};
};

class model_caller final : public caller {
public:
    explicit model_caller(etcd_model& data) : server_(data) {}

private:
    std::string exchange(const std::string& out) override
    {
        server_.receive(out);
        while (server_.execute(core::time_point(1000s))) {
        }
        while (server_.answer()) {
        }
        server_.tell_watches();
        std::string in = server_.output();
        if (in.empty() && out.empty())
            throw std::runtime_error("the model does not answer");
        return in;
    }

    etcd_model_server server_;
};

class real_caller final : public caller {
public:
    explicit real_caller(std::uint16_t port)
    {
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }

private:
    std::string exchange(const std::string& out) override
    {
        boost::asio::write(socket_, boost::asio::buffer(out));
        pollfd ready{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, 60'000) != 1)
            throw std::runtime_error("etcd does not answer");
        std::string in(64 * 1024, '\0');
        in.resize(socket_.read_some(boost::asio::buffer(in)));
        return in;
    }

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket socket_{io_};
};

// In words, to be compared.
std::string told(const wire::answer& a)
{
    std::ostringstream s;
    for (const wire::listed_key& each : a.keys)
        s << ' ' << each.name << '@' << each.created << (each.lease != 0 ? " leased " : " ")
          << each.value;
    s << (a.more ? " more" : "") << " -" << a.deleted;
    return s.str();
}

std::string told(std::string_view path, const wire::arrival& a)
{
    if (a.ended)
        return std::to_string(*a.ended) + " " + a.text;
    std::ostringstream s;
    if (path == wire::txn_path) {
        const auto reply = wire::read_txn(a.text);
        BOOST_REQUIRE(reply.has_value());
        s << reply->header.revision << (reply->none_existed ? " then" : " else");
        for (const wire::answer& each : reply->answers)
            s << ';' << told(each);
    } else if (path == wire::range_path || path == wire::delete_path) {
        const auto reply =
            path == wire::range_path ? wire::read_list(a.text) : wire::read_removal(a.text);
        BOOST_REQUIRE(reply.has_value());
        s << reply->header.revision << told(reply->found);
    } else if (path == wire::lease_grant_path || path == wire::keep_alive_path) {
        const auto reply = wire::read_lease(a.text);
        BOOST_REQUIRE(reply.has_value());
        s << reply->ttl_seconds << " s";
    } else if (path == wire::lease_time_path) { // time stands still for the model
        const auto reply = wire::read_lease(a.text);
        BOOST_REQUIRE(reply.has_value());
        s << (reply->ttl_seconds > 0 ? "lasts" : "is gone");
    }
    return s.str();
}

std::string told(const wire::watch_reply& reply)
{
    std::ostringstream s;
    s << (reply.canceled ? "canceled " : "") << reply.compacted;
    for (const wire::deletion& each : reply.deletions)
        s << ' ' << each.key << '@' << each.revision;
    return s.str();
}

// The model and a real server.
struct twins {
    // Which of the two is spoken to.
    enum : std::size_t { model, real };

    std::array<caller*, 2> both() { return {&modelled, &genuine}; }

    template <class Message>
    void compare(std::string_view path, Message message)
    {
        const auto one = told(path, modelled.call(path, message(model)));
        BOOST_TEST(one == told(path, genuine.call(path, message(real))));
    }
    claim key(std::size_t which, std::size_t session)
    {
        claim c;
        const std::string queue = random.chance(0.7) ? "a/" : "b/";
        c.place.reset(queue, queue + "k" + std::to_string(random.below(8)));
        c.lease = leases[session][which];
        return c;
    }

    etcd_cluster servers;
    etcd_model data;
    model_caller modelled{data};
    real_caller genuine{servers.port()};
    dice random{7};
    std::vector<std::array<std::int64_t, 2>> leases;
    requests texts{"", "client"};
};

BOOST_AUTO_TEST_SUITE(etcd_fidelity)

BOOST_AUTO_TEST_CASE(random_requests_have_the_same_answers)
{
    twins t;
    dice& random = t.random;
    const auto grant = [&](std::int64_t seconds) {
        std::array<std::int64_t, 2> ids{};
        for (std::size_t i = 0; i < 2; ++i) {
            const auto reply = wire::read_lease(
                t.both()[i]->call(wire::lease_grant_path, wire::lease_grant(seconds)).text);
            BOOST_REQUIRE(reply.has_value());
            BOOST_TEST(reply->ttl_seconds == std::max<std::int64_t>(seconds, 2));
            ids[i] = reply->id;
        }
        t.leases.push_back(ids);
    };
    grant(1); // the server's minimum counts
    t.leases.clear();
    grant(100);
    for (int step = 0; step < 3000; ++step) {
        BOOST_TEST_CONTEXT("step " << step)
        {
            const std::size_t session = random.below(t.leases.size());
            claim c = t.key(0, session), other = t.key(0, session);
            const auto of = [&, session](std::size_t which) {
                c.lease = t.leases[session][which];
                return c;
            };
            const auto leaves = other.place.queue() == c.place.queue() &&
                                        other.place.key() != c.place.key() && random.chance(0.3)
                                    ? other.place.key()
                                    : std::string();
            switch (random.below(12)) {
            case 0:
            case 1:
            case 2:
                t.compare(wire::txn_path,
                    [&](std::size_t which) { return t.texts.ask(of(which), leaves); });
                break;
            case 3:
                t.compare(
                    wire::txn_path, [&](std::size_t which) { return t.texts.ask_once(of(which)); });
                break;
            case 4:
                t.compare(
                    wire::txn_path, [&](std::size_t which) { return t.texts.bar(of(which)); });
                break;
            case 5:
                t.compare(wire::delete_path,
                    [&](std::size_t) { return wire::delete_key(c.place.key()); });
                break;
            case 6: // frees the name again
                t.compare(wire::delete_path,
                    [&](std::size_t) { return wire::delete_key(t.texts.barrier_of(c)); });
                break;
            case 7: {
                const auto limit = static_cast<std::int64_t>(random.below(4));
                const bool with_values = random.chance(0.5), oldest_first = random.chance(0.5);
                const wire::key_range all{
                    random.chance(0.5) ? "a/k3" : std::string(1, '\0'), std::string(1, '\0')};
                t.compare(wire::range_path, [&](std::size_t) {
                    return with_values ? wire::list_values(all, limit, oldest_first)
                                       : wire::list_keys(c.place.keys(), limit);
                });
                break;
            }
            case 8: // changes a key, whether it exists or not
                t.compare(wire::txn_path, [&](std::size_t which) {
                    wire::transaction put;
                    put.put(wire::transaction::branch::none_exist, c.place.key(), "changed",
                        of(which).lease);
                    return put.encoded();
                });
                break;
            case 9:
                t.compare(wire::lease_time_path,
                    [&](std::size_t which) { return wire::lease_time(t.leases[session][which]); });
                if (random.chance(0.3)) {
                    t.compare(wire::lease_revoke_path, [&](std::size_t which) {
                        return wire::lease_revoke(t.leases[session][which]);
                    });
                    grant(50 + static_cast<std::int64_t>(random.below(50)));
                }
                break;
            case 10: {
                std::array<std::string, 2> answers;
                for (std::size_t i = 0; i < 2; ++i)
                    answers[i] =
                        told(wire::keep_alive_path, t.both()[i]->first_answer(wire::keep_alive_path,
                                                        wire::keep_alive(t.leases[session][i])));
                BOOST_TEST(answers[0] == answers[1]);
                break;
            }
            default: {
                const auto start = static_cast<std::int64_t>(
                    1 + random.below(static_cast<std::size_t>(t.data.revision() + 1)));
                const std::string message = wire::watch_deletions(c.place.keys(), start, 5);
                const bool compacted = start < t.data.compacted();
                std::size_t expected = 0;
                for (const etcd_model::change& each : t.data.changes())
                    expected += each.deleted && each.revision >= start &&
                                each.key.starts_with(c.place.queue());
                std::array<std::string, 2> answers;
                for (std::size_t i = 0; i < 2; ++i)
                    answers[i] = told(t.both()[i]->watch(message, compacted, expected));
                BOOST_TEST(answers[0] == answers[1]);
            }
            }
            if (random.chance(0.002)) {
                const std::int64_t at = t.data.revision() - 1;
                t.data.compact(at);
                t.servers.ctl({"compact", std::to_string(at)});
            }
        }
    }
    BOOST_TEST(t.data.revision() > 500);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
