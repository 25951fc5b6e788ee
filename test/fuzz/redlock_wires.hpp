#pragma once

#include "redis/redlock_core.hpp"

#include "fuzz/books.hpp"
#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/node_commands.hpp"
#include "fuzz/redlock_settings.hpp"
#include "support/times.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::fuzz {

using namespace std::chrono_literals;

inline constexpr core::duration longest_silence = std::chrono::seconds(1); // of who waits
inline constexpr std::string_view token_start = "7e57c0de7e57c0de7e57";

// A Redlock core, its nodes, and the books of its claims, which are kept by what goes over the
// wires.
struct redlock_wires {
    using stage = claim_book::stage;

    explicit redlock_wires(input& choices)
        : in(choices),
          honest(in.flag()),
          nodes(1 + in.below(in.below(8) == 7 ? redis::max_nodes : 5)),
          redlock(redlock_settings(nodes.size()),
              in.flag() ? std::optional<core::duration>(std::chrono::milliseconds(50))
                        : std::nullopt,
              1)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            node& n = nodes[i];
            n.link = redlock.connections()[i];
            n.run_id = "run" + std::to_string(i);
            n.on_queued = [this, i](node::command& c) {
                on_queued(i, c);
            };
            n.on_push = [this, i](redis::reply push) {
                on_push(i, push);
            };
            n.on_closed = [this, i] {
                looks[i].clear();
                for (auto& [name, b] : open)
                    b.disconnected(i);
            };
            n.on_reply = [this, i](const node::command& c, redis::reply r) {
                on_reply(i, c, r);
            };
        }
    }

    input& in;
    const bool honest; // nodes that are slow and unreliable, but never wrong
    std::vector<node> nodes;
    redis::redlock_core redlock;
    core::time_point now = test::start;
    std::map<std::uint64_t, claim_book> open;      // by name; not yet ended
    std::map<std::uint64_t, std::uint64_t> tagged; // the names, by the tag that they have now
    std::uint64_t looking = 0; // the name of whose others are looked for in this call
    std::map<std::size_t, std::deque<std::uint64_t>> looks; // by node, not answered: names
    std::map<std::size_t, std::set<std::string>> places;    // by node: in its queues, ever

    // The open claim of a token, or null.
    claim_book* find(const std::string& token)
    {
        check(token.starts_with(token_start), "a token is sent as it was given");
        const auto found = open.find(std::stoul(token.substr(token_start.size())));
        return found == open.end() ? nullptr : &found->second;
    }

    void on_queued(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (is_trial(text))
            return;
        if (text[0] == "SET") {
            claim_book* const b = find(text[2]);
            check(b != nullptr, "nothing is set for what has ended");
            check(text.size() == 6 && text[1] == b->resource && text[3] == "NX" &&
                      text[4] == "PX" &&
                      std::chrono::milliseconds(std::stoll(text[5])) == b->terms.ttl,
                "a SET says what was asked for");
            b->asked(at, c.in_renewal);
            if (b->queued && b->now == stage::asking)
                b->deadline = limit_of(*b);
        } else if (text[0].starts_with("EVAL")) {
            on_call(at, c);
        } else if (text[0] == "ZREM") {
            check(places.contains(at) && places.at(at).contains(text[2]),
                "who leaves a queue stood in it");
        } else if (text[0] == "EXISTS") {
            const auto asker = open.find(looking);
            check(asker != open.end() && text[1] == queue_of(asker->second.resource),
                "others are looked for when that was asked");
            looks[at].push_back(looking);
        }
    }

    static std::string queue_of(const std::string& resource)
    {
        return resource + std::string(redis::queue_suffix);
    }

    // A place in a queue that is not the arbiter's, or not for this client.
    void on_join(std::size_t at, const words& text)
    {
        const claim_book* const b = find(text[4].substr(0, 32));
        check(b != nullptr && text[3] == queue_of(b->resource),
            "only what is wanted stands in a queue");
        check(b->terms.queue != core::queueing::none, "who does not want to wait does not");
        check(text[4].size() > 48 && text[4].substr(48) == nodes[at].channel(),
            "who waits can be told of it");
        check(ms(text[5]) > longest_silence, "a queue lasts for longer than anybody is silent");
        open.at(b->name).joined(at, std::string_view(text[4]).substr(32, 16));
        places[at].insert(text[4]);
    }

    void on_call(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        if (calls(text, redis::join_script))
            return on_join(at, text);
        if (calls(text, redis::owner_script))
            return; // it changes nothing
        if (calls(text, redis::renew_script))
            return on_renewal(at, c);
        const bool queues = !calls(text, redis::release_script);
        claim_book* const b = find(argument(text, 0));
        if (b != nullptr)
            check(text[3] == b->resource, "a claim is of its resource");
        if (queues)
            check_place(at, text, b);
        if (!calls(text, redis::enqueue_script))
            return b != nullptr ? b->removing(at) : void();
        check(b != nullptr, "only what is wanted stands in a queue");
        check(ms(argument(text, 3)) == b->terms.ttl && ms(argument(text, 4)) > longest_silence,
            "a queue lasts for longer than anybody is silent");
        check(b->terms.queue != core::queueing::none, "who does not want to wait does not");
        const std::string& place = argument(text, 2);
        b->enqueued(at, std::string_view(place).substr(32, 16));
        b->deadline = limit_of(*b);
        places[at].insert(place);
    }

    // A place in a queue: what the arbiter needs to know to hand a key over.
    void check_place(std::size_t at, const words& text, const claim_book* b) const
    {
        check(text[4] == queue_of(text[3]), "a queue belongs to a key");
        const auto hand_over = ms(argument(text, 1));
        check(hand_over <= 500ms && hand_over > 0ms, "a hand-over is confirmed soon");
        check(b == nullptr || hand_over <= b->terms.ttl, "or lasts as long as a lease");
        const std::string& place = argument(text, 2);
        if (calls(text, redis::pass_on_script) && text[2] == "3")
            check_window(text, b);
        if (calls(text, redis::enqueue_script))
            check(place.size() > 48 && place.starts_with(argument(text, 0)) &&
                      place.substr(48) == nodes[at].channel(),
                "who waits can be told of it");
        else
            check(place.empty() || (places.contains(at) && places.at(at).contains(place)),
                "who leaves a queue stood in it");
    }

    // What the release of a lease asks for.
    static void check_window(const words& text, const claim_book* b)
    {
        check(text[5] == text[3] + std::string(redis::window_suffix), "a window belongs to a key");
        if (b == nullptr)
            return;
        const core::polling_params& terms = b->terms.polling;
        check(terms.window_ms != 0 && ms(argument(text, 4)) == terms.period() &&
                  ms(argument(text, 3)) == terms.period() - terms.window(),
            "a window is as long as was asked for");
    }

    void on_renewal(std::size_t at, node::command& c)
    {
        const words& text = c.text;
        const std::size_t count = std::stoul(text[2]);
        const auto waits_for_it = [&text](const node::command& other) {
            return other.confirms && other.text[0] == "EVALSHA" && other.text[4] == text[4];
        };
        const auto& sent = nodes[at].unanswered();
        c.confirms = !c.in_renewal && count == 1 &&
                     (text[0] == "EVALSHA" || std::any_of(sent.begin(), sent.end(), waits_for_it));
        for (std::size_t i = 0; i < count; ++i) {
            claim_book* const b = find(text[3 + count + 2 * i]);
            check(b != nullptr && text[3 + i] == b->resource &&
                      ms(text[4 + count + 2 * i]) == b->terms.ttl,
                "a renewal says what was asked for");
            if (c.confirms) {
                b->confirming(at, text[0] == "EVAL");
                b->deadline = std::max(b->deadline, limit_of(*b));
            } else {
                check(b->now == stage::held, "only leases are renewed");
            }
        }
    }

    void on_reply(std::size_t at, const node::command& c, redis::reply answer)
    {
        const words& text = c.text;
        const bool sure = nodes[at].sure;
        const resp::value& v = answer.front();
        // A wrong node can answer what has been queued just now, which is never seen once the
        // connection is closed.
        for (auto& [name, b] : open)
            b.blurred = b.blurred || (!sure && !honest);
        if (is_trial(text))
            return;
        if (text[0] == "SET") {
            if (claim_book* const b = find(text[2]))
                b->answered(at, answer, c.queued, c.in_renewal, sure);
        } else if (text[0] == "EXISTS") {
            const auto asker = open.find(looks[at].front());
            looks[at].pop_front();
            if (asker != open.end()) {
                claim_book& b = asker->second;
                b.blurred = b.blurred || !sure;
                b.found_alone += v.kind == resp::value_kind::integer && v.integer == 0 ? 1u : 0u;
            }
        } else if (text[0].starts_with("EVAL")) {
            on_script_reply(at, c, answer);
        }
    }

    void on_script_reply(std::size_t at, const node::command& c, redis::reply answer)
    {
        const words& text = c.text;
        const bool sure = nodes[at].sure;
        const resp::value& v = answer.front();
        if (calls(text, redis::join_script) || calls(text, redis::owner_script))
            return;
        if (!calls(text, redis::renew_script)) {
            claim_book* const b = find(argument(text, 0));
            if (b == nullptr)
                return;
            if (!calls(text, redis::enqueue_script))
                b->removed(v.kind == resp::value_kind::integer && v.integer != 0, sure);
            else if (v.kind == resp::value_kind::integer && v.integer == 0)
                b->in_turn(at, c.queued, sure);
            return;
        }
        const std::size_t count = std::stoul(text[2]);
        const bool usable = v.kind == resp::value_kind::array && v.count == count;
        for (std::size_t i = 0; i < count; ++i) {
            claim_book* const b = find(text[3 + count + 2 * i]);
            const bool ours = usable && answer[i + 1].integer == 1;
            if (b != nullptr && c.confirms && (usable || v.kind == resp::value_kind::error))
                b->confirmed(at, ours, c.queued, sure);
            else if (b != nullptr && usable)
                b->renewed(at, ours, c.queued, sure);
        }
    }

    void on_push(std::size_t at, redis::reply push)
    {
        if (push.size() < 4 || push[1].text != "message" || push[3].text.size() != 48)
            return;
        for (auto& [name, b] : open) {
            if (push[3].text.starts_with(b.token))
                b.notified(at, push[3].text.substr(32), nodes[at].sure);
        }
    }

    // When an attempt that waits for its turn has done something, or has ended.
    core::time_point limit_of(const claim_book& b) const
    {
        const core::duration patience = redlock.patience(b.terms.ttl);
        return now + connect_timeout + patience + (b.queued ? longest_silence + patience : 0s);
    }
};

} // namespace holdfast::fuzz
