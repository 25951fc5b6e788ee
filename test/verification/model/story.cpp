#include "verification/model/story.hpp"

#include <array>

namespace holdfast::model {

namespace {

using kind = step_kind;

std::string attempt_name(std::size_t a, const naming& names)
{
    return std::string(1, "abcd"[names.attempts[a]]);
}

std::string node_name(std::size_t i, const naming& names)
{
    return "n" + std::to_string(names.nodes[i] + 1);
}

// What else a step leads to.
std::string consequences(attempt a, const world& before, const world& after, const naming& names)
{
    std::string text;
    const int granted = before.published ^ after.published;
    if (granted != 0 || (before.who[a].now == phase::asking && after.who[a].now == phase::held))
        text += ", " + attempt_name(a, names) + " is granted the lease";
    for (std::size_t b = 0; b < most_attempts; ++b) {
        const phase was = before.who[b].now;
        if ((was == phase::held || was == phase::asking) && after.who[b].now == phase::ended)
            text += ", " + attempt_name(b, names) + " ends";
    }
    return text;
}

std::string executing(const step& s, const world& before, const world& after, const naming& names)
{
    const node &n = before.nodes[s.node], &m = after.nodes[s.node];
    const unsigned request = n.links[s.who].requests.front();
    std::string text = node_name(s.node, names) + " executes ";
    if (request == set_request) {
        text += "SET of " + attempt_name(s.who, names);
        if (n.lock != 0)
            return text + ": refused, " + attempt_name(n.lock - 1u, names) + " has the key";
        return text + ": granted" +
               (m.register_ != n.register_ ? ", register " + std::to_string(m.register_) : "");
    }
    const small ballot = before.who[s.who].ballots[request - ballot_request(1)];
    return text + "ballot " + std::to_string(ballot) + " of " + attempt_name(s.who, names) +
           ": register was " + (n.empty ? "lost" : std::to_string(n.register_)) +
           (m.register_ != n.register_ ? ", accepted" : "");
}

std::string reading(const step& s, const world& before, const naming& names)
{
    const unsigned said = before.nodes[s.node].links[s.who].replies.front();
    std::string text =
        attempt_name(s.who, names) + " reads that " + node_name(s.node, names) + " has ";
    if (said < first_ballot_reply)
        return text + (said == key_granted ? "granted" : "refused") + " the key";
    return text + (accepted_in(said) ? "accepted" : "refused") + " ballot no. " +
           std::to_string(number_in(said));
}

std::string body(const step& s, const world& before, const world& after, const naming& names)
{
    const std::string node = node_name(s.node, names), name = attempt_name(s.who, names);
    const std::string value = std::to_string(s.value);
    const std::string stored = std::to_string(after.nodes[s.node].register_);
    switch (s.kind) {
    case kind::begin:
        return name + " sends SET and ballot " + value + " to all nodes";
    case kind::execute:
        return executing(s, before, after, names);
    case kind::read:
        return reading(s, before, names);
    case kind::propose:
        return name + " sends ballot " + value + " to nodes that hold its key";
    case kind::ask:
        return name + " sends SET to " + node + " again";
    case kind::lose:
        return name + " learns that its key is gone at " + node;
    case kind::grant:
        return name + " looks at its votes";
    case kind::write:
        return name + " writes to the store";
    case kind::renew:
        return node + " executes a renewal of " + name;
    case kind::repair:
        return node + " executes a SET of " + name + " that repairs its key";
    case kind::cut:
        return "the connection of " + name + " with " + node + " breaks";
    case kind::arrive:
        return "a SET of " + name + " arrives at " + node + " over an old connection";
    case kind::expire:
        return "the key of " + name + " expires at " + node;
    case kind::tick:
        return "the time is " + std::to_string(after.time);
    case kind::flush:
        return node + " loses its data";
    case kind::open:
        return node + " makes its registers: " + stored;
    case kind::restart:
        return node + " is restarted without its data, with clock " + value +
               ", and has registers " + stored;
    }
    return {};
}

} // namespace

std::string describe(const step& s, const world& before, const world& after, const naming& names)
{
    return body(s, before, after, names) + consequences(s.who, before, after, names);
}

std::string names_of(unsigned violated)
{
    constexpr std::array<const char*, 4> all{
        "duplicate token", "order of tokens", "stale write", "two holders"};
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((violated & bit_of(i)) != 0)
            text += (text.empty() ? "" : ", ") + std::string(all[i]);
    }
    return text;
}

} // namespace holdfast::model
