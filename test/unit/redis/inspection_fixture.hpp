#pragma once

#include "redis/dialect/fenced_calls.hpp"
#include "redis/inspection/inspection.hpp"
#include "redis/inspection/scripts_of_inspection.hpp"
#include "resp/reader.hpp"
#include "support/printing.hpp"
#include "support/session_fixture.hpp"
#include "support/times.hpp"
#include "unit/redis/blob.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::test {

inline std::string list_of(const std::vector<std::string>& encoded)
{
    std::string all = "*" + std::to_string(encoded.size()) + "\r\n";
    for (const std::string& each : encoded)
        all += each;
    return all;
}

inline std::string number(std::int64_t n)
{
    return ":" + std::to_string(n) + "\r\n";
}

// A node whose answers the test chooses: after the greeting, `answer(words)` for each command. No
// text: no answer.
struct told_node {
    using words = std::vector<std::string>;

    bool serve(core::connection& c, core::time_point now)
    {
        if (!c.wants_open()) {
            if (std::exchange(open, false))
                c.closed({}, now);
            return false;
        }
        if (!up)
            return false;
        bool changed = false;
        if (!open) {
            open = changed = true;
            reader.reset();
            greeted = 0;
            c.opened(now);
        }
        const std::string sent(c.output());
        if (sent.empty())
            return changed;
        c.written(sent.size(), now);
        reader.feed(sent);
        std::string replies;
        while (reader.next() == resp::reader::status::reply)
            replies += reply_to(reader.reply());
        give(c, replies, now);
        return true;
    }

    std::string reply_to(redis::reply command)
    {
        words w;
        for (const resp::value& v : command.subspan(1))
            w.emplace_back(v.text);
        if (greeted < greeting_commands)
            return greeted++ == 0 ? hello_answer : greeted == 2 ? greeting() : "";
        if (w[0] == "EVAL")
            w[1] = w[1] == redis::view_script           ? "view"
                   : w[1] == redis::scan_script         ? "scan"
                   : w[1] == redis::clients_script      ? "clients"
                   : w[1] == redis::pass_on_script.text ? "pass_on"
                   : w[1] == redis::release_script.text ? "release"
                                                        : w[1];
        const std::size_t named = w[0] == "EVAL" ? 1 : 0;
        std::string line = w[named];
        for (std::size_t i = named + 1; i < w.size(); ++i)
            line += " " + w[i];
        log.push_back(line);
        w.erase(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(named));
        return answer ? answer(w) : "";
    }

    std::string greeting() const
    {
        std::string all = greeting_answers();
        const std::string usual = "run_id:abc";
        BOOST_REQUIRE(all.find(usual) != all.npos);
        return all.replace(all.find(usual), usual.size(), "run_id:" + run_id);
    }

    static void give(core::connection& c, std::string_view bytes, core::time_point now)
    {
        while (!bytes.empty() && c.wants_open()) {
            const std::span<char> space = c.read_space();
            const std::size_t n = std::min(space.size(), bytes.size());
            std::memcpy(space.data(), bytes.data(), n);
            c.received(n, now);
            bytes.remove_prefix(n);
        }
    }

    static constexpr int greeting_commands = 8; // HELLO, then those of greeting_answers()
    bool up = true, open = false;
    int greeted = 0;
    std::string run_id = "abc";
    resp::reader reader;
    words log;
    std::function<std::string(const words&)> answer;
};

// An inspection over three nodes. Time stands still unless the test moves it.
struct inspection_fixture : redis::session_owner {
    static constexpr std::int64_t wall = 1'790'000'000;
    static constexpr const char* channel = "holdfast:0123456789abcdef0123456789abcdef";

    explicit inspection_fixture(bool fenced = false)
        : people(pool, fenced ? fenced_names : plain_names,
              {.channel = channel, .client_name = "test", .fenced = fenced, .keeps_record = true})
    {
        nodes.resize(3);
    }

    static std::vector<redis::node_settings> settings()
    {
        std::vector<redis::node_settings> all(3, session_settings());
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].name = "node" + std::to_string(i);
            all[i].password.clear();
            all[i].max_requests = 1000;
            all[i].max_bytes = 1024 * 1024;
        }
        return all;
    }

    void run()
    {
        for (bool changed = true; changed;) {
            changed = false;
            while (std::min(pool.wake_at(), people.wake_at()) <= now) {
                pool.wake(now);
                people.wake(now);
                changed = true;
            }
            for (std::size_t i = 0; i < nodes.size(); ++i)
                changed = nodes[i].serve(*pool.connections()[i], now) || changed;
        }
    }

    void pass(core::duration d)
    {
        const core::time_point end = now + d;
        run();
        for (;;) {
            const core::time_point next = std::min(pool.wake_at(), people.wake_at());
            if (next > end)
                break;
            now = std::max(now, next);
            run();
        }
        now = end;
        run();
    }

    void answer_all(const std::function<std::string(const told_node::words&)>& how)
    {
        for (told_node& each : nodes)
            each.answer = how;
    }

    // The commands since the last call.
    std::string log(std::size_t node)
    {
        std::string all;
        for (const std::string& each : std::exchange(nodes[node].log, {}))
            all += (all.empty() ? "" : ", ") + each;
        return all;
    }

    void begin(core::inspection_task task, std::string_view name)
    {
        people.begin({.task = task, .tag = ++tag, .name = name, .wall = wall}, now);
    }

    template <class Found>
    std::pair<errc, Found> result()
    {
        auto r = people.next_result();
        BOOST_REQUIRE(bool(r));
        BOOST_TEST(r->tag == tag);
        return {r->reason, std::get<Found>(std::move(r->found))};
    }

    template <class Found>
    std::pair<errc, Found> ask(core::inspection_task task, std::string_view name)
    {
        begin(task, name);
        run();
        return result<Found>();
    }

    static std::string token(std::uint32_t client, char random = 'r', std::uint32_t seconds = wall)
    {
        struct bits final : core::entropy {
            char each = 0;
            bool fill(std::span<std::byte> out) noexcept override
            {
                for (std::byte& b : out)
                    b = static_cast<std::byte>(each);
                return true;
            }
        } source;
        source.each = random;
        const auto t = core::owner_token::make(source, {.seconds = seconds, .client = client});
        return std::string(t->view());
    }

    static std::string view(int is, const std::string& value, std::int64_t left,
        const std::vector<std::string>& queue = {}, const std::string& fence = {})
    {
        std::vector<std::string> all{number(is), blob(value), number(left), blob(fence),
            number(static_cast<std::int64_t>(queue.size()))};
        for (const std::string& each : queue)
            all.push_back(blob(each));
        return list_of(all);
    }

    static std::string record(const std::string& host, const std::string& on = channel)
    {
        return redis::text_of_client({host, "shop", 42, wall - 60}, "web", on);
    }

    std::string admit(std::size_t) override { return {}; }
    void on_ready(std::size_t node, core::time_point when) override { people.on_ready(node, when); }
    void on_push(std::size_t, redis::reply, core::time_point) override {}
    void on_reply(std::size_t node, const redis::request& r, redis::reply answer,
        core::time_point when) override
    {
        people.on_reply(node, r, answer, when);
    }
    bool say_again(std::size_t, const redis::request&, core::time_point) override { return false; }
    void on_sent_late(std::size_t, const redis::request&, core::time_point) override {}
    void on_orphaned(std::size_t node, const redis::request& r, core::time_point when) override
    {
        people.lose_answer(node, r, when);
    }
    void on_down(std::size_t node, core::time_point when) override { people.on_down(node, when); }

    core::time_point now = start;
    core::jitter jitter{1};
    std::vector<told_node> nodes;
    redis::node_pool pool{settings(), std::nullopt, *this, jitter};
    redis::key_names plain_names{redis::key_forms::plain()},
        fenced_names{redis::fenced_calls::names()};
    redis::inspection people;
    std::uint64_t tag = 0;
};

struct connected_inspection : inspection_fixture {
    explicit connected_inspection(bool fenced = false) : inspection_fixture(fenced) { run(); }
};

} // namespace holdfast::test
