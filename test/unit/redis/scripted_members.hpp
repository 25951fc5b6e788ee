#pragma once

#include "core/connection.hpp"
#include "core/owner_token.hpp"
#include "redis/node/hash_slot.hpp"
#include "redis/node/scripts.hpp"
#include "resp/reader.hpp"
#include "support/session_fixture.hpp"
#include "unit/redis/blob.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

using namespace redis;
using namespace std::chrono_literals;

using words = std::vector<std::string>;

// What a member of the cluster knows: the slots, and its keys with their tokens.
struct member {
    bool is_down = false;
    std::map<std::string, std::string> keys{};
    int slots_asked = 0, sets = 0;
};

inline core::owner_token token(char digit)
{
    core::owner_token made;
    made.text.fill(digit);
    return made;
}

inline node_settings member_settings()
{
    node_settings s = session_settings();
    s.where = {};
    s.name = "redis cluster";
    s.password = {};
    s.in_cluster = true;
    return s;
}

// The members, and what they answer to the connections of the test.
struct scripted_members {
    static constexpr std::size_t nobody = 99;

    std::vector<member> members{3};
    std::array<std::size_t, hash_slots> owners{};
    bool migrating = false;                      // every request is answered with ASK
    std::map<std::uint32_t, std::size_t> moving; // slots on their way, and where to
    std::string failing; // a key whose requests fail at the old primary for another reason
    std::string late;    // a key whose answers are held back, and all answers behind them
    core::time_point now = start;
    struct stream {
        resp::reader asked;
        std::string answers;
        bool asking = false; // the next request may be for a slot on its way here
        bool held_back = false;
    };
    std::map<core::connection*, stream> open;

    scripted_members()
    {
        for (std::size_t slot = 0; slot < hash_slots; ++slot)
            owners[slot] = slot * 2 / hash_slots; // the third has none
    }

    static std::size_t index_of(const core::connection& c)
    {
        return c.target().port - std::size_t(1);
    }

    std::string table() const
    {
        std::string ranges;
        int count = 0;
        for (std::size_t first = 0, last = 0; first < hash_slots; first = last + 1) {
            last = first;
            while (last + 1 < hash_slots && owners[last + 1] == owners[first])
                ++last;
            if (owners[first] == nobody)
                continue;
            ++count;
            ranges += "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) +
                      "\r\n*2\r\n" + blob("m") + ":" + std::to_string(owners[first] + 1) + "\r\n";
        }
        return "*" + std::to_string(count) + "\r\n" + ranges;
    }

    // Source: getNodeByQuery() of Redis 7.0. Queues have no keys here.
    std::string answer_on_the_way(
        std::size_t here, const std::string& key, bool with_queue, bool asking) const
    {
        const std::uint32_t slot = slot_of(key);
        const bool has_key = members[here].keys.contains(key);
        if (key == failing && owners[slot] == here)
            return "-OOM command not allowed\r\n";
        if (owners[slot] == here && !has_key)
            return "-ASK " + std::to_string(slot) + " m:" + std::to_string(moving.at(slot) + 1) +
                   "\r\n";
        if (owners[slot] != here && !asking)
            return "-MOVED " + std::to_string(slot) + " m:" + std::to_string(owners[slot] + 1) +
                   "\r\n";
        return with_queue ? "-TRYAGAIN Multiple keys request during rehashing of slot\r\n" : "";
    }

    std::string redirection(
        std::size_t here, const std::string& key, bool with_queue, bool asking) const
    {
        const std::uint32_t slot = slot_of(key);
        if (moving.contains(slot))
            return answer_on_the_way(here, key, with_queue, asking);
        if (owners[slot] == nobody)
            return "-CLUSTERDOWN Hash slot not served\r\n";
        if (owners[slot] == here && !migrating)
            return {};
        return (migrating ? "-ASK " : "-MOVED ") + std::to_string(slot) +
               " m:" + std::to_string(owners[slot] + 1) + "\r\n";
    }

    static std::string digest_of(const std::string& text)
    {
        for (const script& s : {release_script, renew_script, pass_on_script, enqueue_script}) {
            if (s.text == text)
                return blob(s.digest);
        }
        return "-ERR unknown script\r\n";
    }

    // Of a command that has one.
    static const std::string& key_of(const words& said)
    {
        return said[0].starts_with("EVAL") ? said.at(3) : said.at(1);
    }

    std::string answer(std::size_t here, const words& said, bool asking)
    {
        member& m = members[here];
        if (said[0] == "HELLO")
            return "%2\r\n+mode\r\n+cluster\r\n+role\r\n+master\r\n";
        if (said[0] == "CLUSTER")
            return ++m.slots_asked, table();
        if (said[0] == "INFO")
            return blob(said[1] == "memory"
                            ? "maxmemory:0\r\n"
                            : "redis_mode:cluster\r\nrun_id:" + std::to_string(here) + "\r\n");
        if (said[0] == "SCRIPT")
            return digest_of(said[2]);
        if (said[0] == "SUBSCRIBE")
            return ">3\r\n" + blob("subscribe") + blob(said[1]) + ":1\r\n";
        if (said[0] == "CLIENT" || said[0] == "ASKING")
            return "+OK\r\n";
        const bool calls = said[0].starts_with("EVAL");
        const std::string& key = key_of(said);
        const bool with_queue = calls && said[2] != "1";
        if (std::string refusal = redirection(here, key, with_queue, asking); !refusal.empty())
            return refusal;
        if (said[0] == "SET") {
            ++m.sets;
            return m.keys.emplace(key, said[2]).second ? "+OK\r\n" : "_\r\n";
        }
        if (said[0] != "EVALSHA" || key.starts_with("holdfast:"))
            return ":0\r\n";
        const bool renews = said[1] == renew_script.digest;
        const std::string& owner = said[3 + std::stoul(said[2])];
        const bool ours = m.keys.contains(key) && m.keys[key] == owner;
        if (ours && !renews)
            m.keys.erase(key);
        return (renews ? "*1\r\n:" : ":") + std::to_string(ours) + "\r\n";
    }

    bool exchange_bytes(core::connection& c, stream& s)
    {
        c.prepare_output();
        const std::string bytes(c.output());
        if (late.empty())
            s.held_back = false;
        if (bytes.empty() && (s.answers.empty() || s.held_back))
            return false;
        if (!bytes.empty())
            c.written(bytes.size(), now);
        s.asked.feed(bytes);
        while (s.asked.next() == resp::reader::status::reply) {
            words said;
            for (const resp::value& each : s.asked.reply().subspan(1))
                said.emplace_back(each.text);
            s.answers += answer(index_of(c), said, s.asking);
            s.asking = said[0] == "ASKING";
            s.held_back = s.held_back || (!late.empty() && said.size() > 1 && key_of(said) == late);
        }
        if (s.held_back)
            return true;
        const std::string answers = std::exchange(s.answers, {});
        const std::span<char> space = c.read_space();
        BOOST_REQUIRE(space.size() >= answers.size());
        std::memcpy(space.data(), answers.data(), answers.size());
        c.received(answers.size(), now);
        return true;
    }

    bool follow(core::connection& c)
    {
        const bool is_open = open.contains(&c);
        if (c.wants_open() && !is_open && members[index_of(c)].is_down)
            return c.closed(boost::asio::error::connection_refused, now), true;
        if (c.wants_open() && !is_open)
            return open.try_emplace(&c), c.opened(now), true;
        if (is_open && members[index_of(c)].is_down)
            return open.erase(&c), c.closed(boost::asio::error::eof, now), true;
        if (!c.wants_open() && is_open)
            return open.erase(&c), c.closed(boost::asio::error::operation_aborted, now), true;
        return is_open && exchange_bytes(c, open.at(&c));
    }

    // Names in the first and in the second half of the slots.
    static std::string name_in(std::size_t half)
    {
        for (int i = 0;; ++i) {
            if (slot_of(std::to_string(i)) * 2 / hash_slots == half)
                return std::to_string(i);
        }
    }
};

} // namespace holdfast::test
