#include "verification/model/baton/story.hpp"

#include "verification/model/baton/clients.hpp"

#include <array>

namespace holdfast::model::baton {

namespace {

using kind = step_kind;
using status = renewal::status;

std::string letter(unsigned name)
{
    return std::string(1, "-abc"[name]);
}

std::string text_of(const value& key)
{
    if (key.token == 0)
        return "no key";
    std::string text = "key " + letter(key.token);
    if (key.place != 0)
        text += "+" + letter(key.place) + " lag " + std::to_string(key.lag);
    return text;
}

std::string text_of(const node& n)
{
    return n.key.token == 0 ? "no key" : text_of(n.key) + " until " + std::to_string(n.until);
}

std::string text_of(const gift& given)
{
    return "lease " + letter(given.token) + ": " + std::to_string(given.left) + " left, lag " +
           std::to_string(given.lag);
}

std::string text_of(const placing& answer)
{
    switch (answer.is) {
    case placing::status::granted:
        return "that q has granted its key";
    case placing::status::has_baton:
        return "the answer of q with " + text_of(answer.given);
    default:
        return "that it has to wait";
    }
}

std::string answer_text(giving answer)
{
    switch (answer) {
    case giving::given:
        return "given";
    case giving::handed_off:
        return "its key is handed off";
    case giving::nobody_waits:
        return "nobody waits";
    default:
        return "not its key";
    }
}

// What changes for processes.
std::string consequences(const world& before, const world& after)
{
    std::string text;
    for (std::size_t p = 0; p < process_count; ++p) {
        const client &was = before.who[p], &is = after.who[p];
        const std::string who = letter(name_of(p));
        const bool has = is.now == phase::held, had = was.now == phase::held;
        if (has && (!had || valid_until(is) != valid_until(was)))
            text += "; " + who + " holds until " + std::to_string(valid_until(is));
        if (had && !has)
            text += "; " + who + " holds no longer";
        if (is.now == phase::confirming && was.now != phase::confirming)
            text += "; " + who + " asks all nodes to confirm the keys";
        if (is.discards != 0 && was.discards == 0)
            text += "; " + who + " is to delete the lease";
    }
    return text;
}

std::string executed(
    const std::string& node, const std::string& what, const world& after, std::size_t at)
{
    return node + " executes " + what + ": " + text_of(after.nodes[at]);
}

std::string asked_for_place(
    const std::string& who, const std::string& what, const world& after, std::size_t p)
{
    const std::string text = who + " asks for " + what;
    return after.who[p].place.is == placing::status::sent
               ? text
               : text + ", q executes it: " + text_of(after.nodes[queue_node]);
}

std::string body(const step& s, const world& before, const world& after, const naming& names)
{
    constexpr std::array<const char*, node_count> all{"q", "n1", "n2"};
    const std::string node = all[names.nodes[s.node]], who = letter(s.who + 1u);
    const client &was = before.who[s.who], &is = after.who[s.who];
    switch (s.kind) {
    case kind::begin:
        return who + " sends SET to all nodes";
    case kind::enter:
        return asked_for_place(who, "a place", after, s.who);
    case kind::enqueue:
        return asked_for_place(who, "its place again", after, s.who);
    case kind::place:
        return executed("q", "the request of " + who + " for a place", after, queue_node);
    case kind::read_place:
        return who + " reads " + text_of(was.place);
    case kind::lose_place:
        return who +
               (was.place.is == placing::status::none ? " asks for its place, and its" : "'s") +
               " connection to q is lost";
    case kind::late_place:
        return executed("q", "the late request of " + who + " for a place", after, queue_node);
    case kind::go_on:
        return who + " goes on without its turn, and sends SET to all nodes";
    case kind::set:
        return executed(node, "SET of " + who, after, s.node);
    case kind::renew:
        return who + " sends a renewal to " + node;
    case kind::execute:
        return executed(node, "the renewal of " + who, after, s.node);
    case kind::read:
        return who + " reads that " + node + " has " +
               (was.renewals[s.node].is == status::confirmed ? "renewed" : "not found") +
               " its key";
    case kind::lose:
        return who + " loses its connection to " + node + " and an answer";
    case kind::late_renewal:
        return executed(node, "the late renewal of " + who, after, s.node);
    case kind::give:
        return who + " sends its baton to q, lag " + std::to_string(is.given_lag);
    case kind::execute_give:
        return executed("q", "the baton of " + who, after, queue_node);
    case kind::read_give:
        return who + " reads: " + answer_text(was.give);
    case kind::lose_give:
        return who + " loses its connection to q, and is in doubt";
    case kind::take:
        return who + " reads the message with " + text_of(was.push);
    case kind::release:
        return who + " deletes its keys";
    case kind::remove:
        return executed(node, "the deletion of " + who, after, s.node);
    case kind::discard:
        return executed(
            node, "the deletion of the lease that " + who + " does not want", after, s.node);
    case kind::tick:
        return "the time is " + std::to_string(after.time);
    case kind::crash:
        return node + " crashes and loses its data";
    }
    return {};
}

} // namespace

std::string describe(const step& s, const world& before, const world& after, const naming& names)
{
    return body(s, before, after, names) + consequences(before, after);
}

std::string names_of(unsigned violated)
{
    constexpr std::array<const char*, 4> all{
        "two holders", "a lease without keys", "a stolen key", "an endless key"};
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((violated & bit_of(i)) != 0)
            text += (text.empty() ? "" : ", ") + std::string(all[i]);
    }
    return text;
}

} // namespace holdfast::model::baton
