// Random commands that give leases to waiters.
#include "verification/fidelity/random_commands.hpp"

#include "redis/node/scripts.hpp"

namespace holdfast::test {

using words = random_commands::words;
namespace redis = holdfast::redis;

std::string random_commands::lag()
{
    return std::string(one_in(20) ? any({"", "7", " x", " -1"}) : any({" 0", " 3", " 3"}));
}

// The value of a key: of a lease that was given, or of any other.
std::string random_commands::lease()
{
    const std::string token = waiting_token();
    return one_in(2) ? token : token + waiting_token() + lag();
}

words random_commands::baton_call(words w)
{
    return baton_call(std::move(w), one_in(20) ? token() : lease());
}

words random_commands::baton_call(words w, const std::string& value)
{
    const std::size_t keys = one_in(30) ? roll(4) : 2;
    w.push_back(one_in(30) ? number() : std::to_string(keys));
    for (std::size_t i = 0; i < keys; ++i)
        w.push_back(one_in(15) ? key() : i == 0 ? "a" : "q");
    w.insert(w.end(), {value, lag(), ttl()});
    while (w.size() > 3 && one_in(30))
        w.pop_back();
    return w;
}

// Somebody has a lease, others wait, and one of them asks again after the lease was given or not.
void random_commands::give_lease()
{
    const std::string value = lease(), next = member();
    planned_.push_back({"SET", "a", value});
    if (!one_in(9))
        planned_.back().insert(planned_.back().end(), {"PX", std::to_string(20 + roll(90))});
    if (one_in(3)) { // without HELLO the connection would refuse all else
        planned_.push_back({"HELLO", "3"});
        planned_.push_back({one_in(4) ? "UNSUBSCRIBE" : "SUBSCRIBE", channel()});
    }
    if (one_in(2))
        planned_.push_back({"DEL", "q"});
    planned_.push_back({"ZADD", "q", "1", next});
    while (one_in(2))
        planned_.back().insert(planned_.back().end(), {"2", member()});
    if (one_in(9))
        planned_.push_back({"SET", "q", "x"});
    planned_.push_back(
        baton_call({"EVAL", std::string(redis::baton_script.text)}, one_in(9) ? lease() : value));
    const bool passes_on = one_in(2);
    const std::string asks = one_in(4) ? waiting_token() : next.substr(0, 32);
    const redis::script& then = passes_on ? redis::pass_on_script : redis::enqueue_script;
    words w{"EVAL", std::string(then.text), passes_on ? "2" : "3", "a", "q"};
    if (!passes_on)
        w.emplace_back("w");
    w.insert(w.end(), {asks, ttl(), next});
    if (!passes_on)
        w.insert(w.end(), {ttl(), ttl(), "again"});
    planned_.push_back(std::move(w));
    planned_.push_back(
        one_in(2) ? words{"GET", "a"} : words{"ZRANGE", "q", "0", "-1", "WITHSCORES"});
    planned_.push_back({"PTTL", "a"});
}

} // namespace holdfast::test
