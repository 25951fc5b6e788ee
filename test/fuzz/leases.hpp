#pragma once

#include "redis/claim/baton.hpp"
#include "redis/node/reply.hpp"
#include "redis/quorum/majority.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/replies.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::fuzz {

inline constexpr std::size_t token_length = 32, entry_length = 48;

// The lease that a message or an answer of a node gives to a place.
inline std::optional<redis::baton> gift_in(redis::reply r)
{
    const bool is_push = r.front().kind == resp::value_kind::push;
    if (is_push && (r.size() != 4 || r[1].text != "message" || r[3].text.size() < entry_length))
        return std::nullopt;
    const auto b = redis::read_baton(is_push ? r[3].text.substr(entry_length) : r[0].text);
    return b && !b->fence ? b : std::nullopt;
}

// The token of that place.
inline std::string place_in(redis::reply push)
{
    return std::string(push[3].text.substr(0, token_length));
}

// Precondition: the script gets a place.
inline const std::string& place_argument(const words& text)
{
    return argument(text, calls(text, redis::join_script) ? 0 : 2);
}

// The token of the place that an answer to this command may be about: empty if it tells of no
// lease.
inline std::string place_in(const words& text)
{
    return !text[0].starts_with("EVAL") || is_trial(text) ||
                   !(calls(text, redis::enqueue_script) || calls(text, redis::join_script) ||
                       calls(text, redis::pass_on_script))
               ? std::string()
               : place_argument(text).substr(0, token_length);
}

// What a claim has, or has had, of the lease with a token: its own one, or one that a node gave it.
struct holding {
    // `asked`: a node was asked to give the lease. `in_doubt`: its answer is lost.
    enum class state { kept, asked, in_doubt, given };

    std::string token, place; // of the keys; of the claim
    std::size_t node = redis::max_nodes;
    std::string value;          // of the key at that node
    bool own_keys_only = false; // its claim has got another lease since
    state now = state::kept;
    std::size_t asked_node = redis::max_nodes;
    std::size_t requests = 0; // to give it, without an answer

    const std::string& value_at(std::size_t at) const { return at == node ? value : token; }

    // Whether its claim may delete its key at this node, if the claim is not to keep it.
    bool may_be_deleted(std::size_t at) const
    {
        return now == state::kept || (now == state::in_doubt && at == asked_node);
    }

    // The answer to a deletion of its key by which a doubt ends.
    void deleted(std::size_t at, bool was_there)
    {
        if (now == state::in_doubt && at == asked_node)
            now = was_there ? state::kept : state::given;
    }
};

// The leases of all claims by their tokens, also of ended claims.
class lease_book {
public:
    holding& begin(const std::string& token)
    {
        std::deque<holding>& all = by_token_[token];
        return all.emplace_back(holding{.token = token, .place = token, .value = token});
    }

    // A node gives a lease to a place. Repeated gifts are the same one.
    holding& gave(std::size_t node, const redis::baton& given, const std::string& place)
    {
        const std::string token(given.token.view());
        std::string value = token + place + ' ' + std::to_string(given.lag.count());
        std::deque<holding>& all = by_token_[token];
        for (holding& h : all) {
            if (h.place == place && h.node == node && h.value == value)
                return h;
        }
        return all.emplace_back(
            holding{.token = token, .place = place, .node = node, .value = std::move(value)});
    }

    // The holdings with such a value at a node.
    std::deque<holding*> with(std::size_t node, const std::string& value)
    {
        std::deque<holding*> all;
        const auto found = by_token_.find(value.substr(0, token_length));
        if (found == by_token_.end())
            return all;
        for (holding& h : found->second) {
            if (h.value_at(node) == value)
                all.push_back(&h);
        }
        return all;
    }

    // How many claims may use the lease with this token, or delete keys with it.
    std::ptrdiff_t holders(const std::string& token) const
    {
        const auto found = by_token_.find(token);
        return found == by_token_.end()
                   ? 0
                   : std::count_if(found->second.begin(), found->second.end(),
                         [](const holding& h) { return h.now == holding::state::kept; });
    }

    bool knows(const std::string& token) const { return by_token_.contains(token); }

    // No answers of this node will come.
    void disconnected(std::size_t node)
    {
        for (auto& [token, all] : by_token_) {
            for (holding& h : all) {
                if (h.asked_node != node)
                    continue;
                h.requests = 0;
                if (h.now == holding::state::asked)
                    h.now = holding::state::in_doubt;
            }
        }
    }

private:
    std::map<std::string, std::deque<holding>> by_token_; // a deque keeps their addresses
};

} // namespace holdfast::fuzz
