// The Redlock core with nodes that answer correctly or wrongly, repeat replies, are slow or close
// connections. It is compared with records of the bytes on the wire.
#include "fuzz/redlock_world.hpp"

#include <algorithm>
#include <string>

namespace {

using namespace holdfast::fuzz;
using namespace std::chrono_literals;
namespace core = holdfast::core;
namespace redis = holdfast::redis;
using holdfast::errc;

constexpr core::duration longest_ttl = 60s;

// The user of the core, and the faults of its nodes.
struct user final : redlock_world {
    using redlock_world::redlock_world;

    const bool hasty = in.flag(); // closes with releases under way
    std::uint64_t last_tag = 0, givers = 0;

    void attempt(std::size_t variant)
    {
        static constexpr core::claim_params kinds[] = {{.ttl = 1s, .drift = 12ms, .guard = 50ms},
            {.ttl = 20ms, .drift = 2ms, .guard = 1ms},
            {.ttl = 300ms, .drift = 5ms, .guard = 50ms, .whole_ttl = true},
            {.ttl = longest_ttl, .drift = 602ms, .guard = 3s},
            {.ttl = 10s, .polling = {.window_ms = 200, .period_ms = 5000}}};
        const std::uint64_t tag = ++last_tag;
        core::owner_token token;
        token.text.fill('0');
        const std::string digits = std::to_string(tag);
        token_start.copy(token.text.data(), token_start.size());
        digits.copy(token.text.data() + token.text.size() - digits.size(), digits.size());

        claim_book b;
        b.tag = b.name = tag;
        b.resource = in.flag() ? "A" : "B";
        b.token = token.view();
        b.lease = &leases.begin(b.token);
        b.terms = in.one_of(kinds);
        b.terms.queue = variant < 7    ? core::queueing::none
                        : variant < 14 ? core::queueing::if_contended
                                       : core::queueing::now;
        b.nodes = nodes.size();
        b.deadline = now + connect_timeout + redlock.patience(b.terms.ttl);
        open[tag] = b;
        tagged[tag] = tag;
        core::claim_id id = 0;
        act([&] { id = redlock.attempt(tag, b.resource, token, b.terms, now); });
        if (const auto still = open.find(tag); still != open.end())
            still->second.id = id;
    }

    void abandon(claim_book& b)
    {
        const core::claim_id id = b.id;
        end(b);
        act([&] {
            check(redlock.pending_error(id) != errc{}, "an open attempt has a pending error");
            redlock.abandon(id, now);
        });
    }

    void release(claim_book& b)
    {
        b.now = stage::releasing;
        b.released_at = now;
        b.deadline = now + redlock.patience(b.terms.ttl);
        act([&] {
            redlock.queue().leave_open(b.id);
            redlock.release(b.id, now);
        });
    }

    void renew()
    {
        std::vector<core::claim_id> some;
        for (auto& [tag, b] : open) {
            if (b.now == stage::held && (some.empty() || in.flag()))
                some.push_back(b.id);
        }
        if (!some.empty())
            act([&] { redlock.renew(some, in.flag(), now); }, true);
    }

    // Transfers a lease to another holder in this process.
    void pass_on(claim_book& b)
    {
        tagged.erase(b.tag);
        b.tag = ++last_tag;
        tagged[b.tag] = b.name;
        act([&] { redlock.transfer(b.id, b.tag); });
    }

    void probe_waiters(claim_book& b)
    {
        looking = b.name;
        act([&] { redlock.queue().probe_waiters(b.id, now); });
        looking = 0;
    }

    // Clients of other processes take the key of A, queue for it, release or give it.
    void be_another(node& n, std::size_t variant)
    {
        static const std::string another = "another" + std::string(token_length - 7, '.');
        if (variant < 8) {
            n.keys.try_emplace("A", node::held_key{another, now + 10ms * in.byte(), now, {}});
        } else if (variant < 14) {
            n.others_listen = variant % 2 == 0;
            n.queues["A"].push_back(
                another + std::string(16, '0') + "holdfast:another" + (variant < 12 ? "" : "+"));
        } else if (variant >= 18) {
            give(n);
        } else if (const auto held = n.keys.find("A"); held == n.keys.end()) {
            return;
        } else if (held->second.token == another) {
            n.let_go("A", now);
        } else if (is_given_to(held->second.token, another)) {
            const std::string token = held->second.token.substr(0, token_length);
            for (node& each : nodes) {
                const auto there = each.keys.find("A");
                if (&each != &n && there != each.keys.end() && there->second.token == token)
                    each.keys.erase(there);
            }
            n.let_go("A", now);
        }
    }

    // A client of another process has a lease of A, and gives it to the next waiter.
    void give(node& n)
    {
        const std::string name = "giver" + std::to_string(++givers);
        const std::string token = name + std::string(token_length - name.size(), '.');
        const core::duration ttl = 10ms * (1 + in.wide() % 1024);
        const std::size_t chosen = in.wide();
        std::vector<core::time_point> ends;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const auto there = nodes[i].keys.find("A");
            const bool is_free = there == nodes[i].keys.end() || there->second.until <= now;
            if ((chosen >> i % 16 & 1) == 0 || !is_free)
                continue;
            ends.push_back(now + ttl - std::min<core::duration>(ttl / 2, 1ms * (in.byte() % 32)));
            nodes[i].keys["A"] = {token, ends.back(), now, ttl};
        }
        std::sort(ends.begin(), ends.end(), std::greater<>());
        if (ends.size() <= nodes.size() / 2 || !n.keys.contains("A") || n.keys["A"].token != token)
            return take_back(token);
        const auto lag =
            std::max<core::duration>(n.keys["A"].until - ends[nodes.size() / 2], core::duration(0));
        const auto said = honest ? std::chrono::ceil<std::chrono::milliseconds>(lag)
                                 : std::chrono::milliseconds(in.byte());
        const int answer = n.give("A", token, " " + std::to_string(said.count()), 500ms, now);
        n.send_notices();
        if (answer != 2)
            take_back(token);
    }

    void take_back(const std::string& token)
    {
        for (node& n : nodes)
            std::erase_if(n.keys, [&](const auto& each) { return each.second.token == token; });
    }

    // Tells a claim that a lease was given to it: a new one, that of another claim, or its own one.
    void give_falsely(node& n)
    {
        const auto& all = places[static_cast<std::size_t>(&n - nodes.data())];
        if (all.empty() || !n.is_open())
            return;
        const std::string place = *std::next(all.begin(), std::ptrdiff_t(in.wide() % all.size()));
        const std::string other = *std::next(all.begin(), std::ptrdiff_t(in.wide() % all.size()));
        std::string token = "false" + std::to_string(++givers);
        token += std::string(token_length - token.size(), '.');
        if (in.below(8) == 0)
            token = other.substr(0, token_length);
        const std::size_t left = in.wide(), lag = in.byte();
        const std::string text = token + std::to_string(left) + " " + std::to_string(lag) +
                                 (in.below(16) == 0 ? " 1000" : "");
        if (in.flag() && n.next() != nullptr)
            return n.answer(blob(text));
        n.notify(place, text);
        n.send_notices();
    }

    // Sends a waiter a false notification of its turn, which waiters must expect.
    void mislead(node& n)
    {
        for (const auto& [key, queue] : n.queues) {
            if (queue.empty())
                continue;
            n.notify(queue[in.below(std::min<std::size_t>(queue.size(), 256))]);
            n.send_notices();
            tricked = true;
        }
    }

    static bool is_gift(const words& text)
    {
        return text[0].starts_with("EVAL") && !is_trial(text) && calls(text, redis::baton_script);
    }

    bool is_quiet() const
    {
        return std::all_of(nodes.begin(), nodes.end(), [](const node& n) { return n.is_quiet(); });
    }

    // Whether we have, or have had, a lease with this value of a key, and no other process has it.
    bool is_ours(const std::string& value) const
    {
        const std::string token = value.substr(0, token_length);
        return leases.knows(token) && !away.contains(token) && !not_told.contains(token);
    }

    void check_reasons()
    {
        for (const holdfast::node_stats& n : redlock.nodes().stats())
            check(n.reason.find(token_start) == std::string::npos, "no reason holds a token");
    }

    void misbehave(node& n);
    void step();
    void finish();
};

void user::misbehave(node& n)
{
    static constexpr std::string_view errors[] = {"ERR no", "OOM no", "NOPERM no", "MOVED 1 a:1"};
    std::string made_up;
    const std::size_t choice = in.byte(), variant = choice / 12;
    switch (choice % 12) {
    case 0:
        return n.take(in.byte(), now);
    case 1:
        return deliver(n, in.byte());
    case 2:
        if (n.is_open() || n.wants_to_open())
            act([&] { n.close(now, boost::asio::error::connection_reset); });
        return;
    case 3:
        return be_another(n, variant);
    case 4:
        if (n.wants_to_open())
            act([&] { n.open(now); });
        return;
    case 5:
        if (n.next() == nullptr)
            return;
        if (n.next()->text[0] == "EVALSHA")
            return n.answer("-NOSCRIPT No matching script. Please use EVAL.\r\n");
        return n.answer(n.execute(now));
    case 6:
        if (honest)
            return;
        n.keys.clear();
        n.queues.clear();
        n.run_id = "run" + std::to_string(in.below(4));
        return;
    case 7:
        if (n.next() != nullptr && honest && is_gift(n.next()->text)) // it does nothing
            return n.answer("-ERR no\r\n");
        // Servers echo arguments of unknown commands
        if (n.next() == nullptr)
            return;
        made_up = "-" + std::string(in.one_of(errors)) + ", with args beginning with: ";
        for (const std::string& word : n.next()->text)
            made_up += "'" + word.substr(0, 40) + "', ";
        std::replace(made_up.begin(), made_up.end(), '\r', ' ');
        std::replace(made_up.begin(), made_up.end(), '\n', ' ');
        made_up += "\r\n";
        break;
    case 8:
        append_value(made_up, in);
        break;
    case 9:
        made_up = in.text(in.below(32));
        break;
    case 10:
        if (variant >= 16 && !honest)
            return give_falsely(n);
        if (variant >= 10)
            return mislead(n);
        append_push(made_up, in);
        if (n.is_open())
            n.answers += made_up;
        return;
    default:
        made_up = common_reply(in);
    }
    if (honest)
        return;
    if (n.next() != nullptr)
        n.answer(made_up);
    else if (n.is_open())
        n.answers += made_up;
}

void user::step()
{
    static constexpr core::duration times[] = {1ms, 5ms, 30ms, 100ms, 400ms, 1s, 4s};
    const std::uint8_t choice = in.byte();
    const std::size_t variant = choice / 12;
    claim_book* b = nullptr;
    switch (choice % 12) {
    case 0:
    case 1:
        return attempt(variant);
    case 2:
        b = choose(stage::held);
        return b != nullptr ? release(*b) : void();
    case 3:
        b = choose(stage::asking);
        return b != nullptr ? abandon(*b) : void();
    case 4:
        b = variant >= 14 ? choose(stage::held) : nullptr;
        return b != nullptr ? pass_on(*b) : renew();
    case 5:
        b = variant >= 14 ? choose(stage::held) : nullptr;
        if (b != nullptr)
            return probe_waiters(*b);
        watches.insert(++last_tag);
        return act([&] { redlock.watch(last_tag, in.flag() ? "A" : "B", now); });
    case 6:
        return serve(nodes[in.below(nodes.size())]);
    case 7:
        for (node& n : nodes)
            serve(n);
        return;
    case 8:
        return choice < 240 ? pass(in.one_of(times)) : jump(in.one_of(times));
    case 9:
        now = std::max(now, std::min(redlock.wake_at(), now + 10s));
        return wake();
    default:
        misbehave(nodes[in.below(nodes.size())]);
        check_reasons();
    }
}

// Releases all claims. Then no request must be left and, if the nodes were honest, no key.
void user::finish()
{
    while (claim_book* const b = choose(stage::asking))
        abandon(*b);
    while (claim_book* const b = choose(stage::held))
        release(*b);
    if (!hasty) {
        for (int i = 0; i < 24 && !is_quiet(); ++i) {
            pass(200ms);
            for (node& n : nodes)
                serve(n);
        }
        pass(500ms); // the longest time that the core waits for a release
        check(open.empty(), "every claim ends");
        for (const node& n : nodes) {
            for (const auto& [name, k] : n.keys)
                check(!honest || !is_ours(k.token) || k.queued + k.ttl <= now || k.until <= now,
                    "no key of ended claims is left");
            for (const auto& [name, queue] : n.queues) {
                const bool has_ours = std::any_of(queue.begin(), queue.end(),
                    [](const std::string& place) { return place.starts_with(token_start); });
                check(!honest || tricked || n.ever_disconnected || !has_ours,
                    "no place of ended claims is left in a queue");
            }
        }
        jump(2 * longest_ttl);
        check(redlock.cleanup().is_done(), "no clean-up is left after the end of all claims");
    }
    check_reasons();
    act([&] { redlock.close(now); });
    check(open.empty() && redlock.cleanup().is_done(), "closing ends all claims and the clean-up");
    now += 2 * longest_ttl;
    wake();
    check(redlock.wake_at() == core::never, "a closed core has no timer");
    for (const node& n : nodes)
        check(!n.link->wants_open(), "a closed core wants no connection");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    user u(in);
    while (!in.empty())
        u.step();
    u.finish();
    return 0;
}
