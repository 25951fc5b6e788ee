// Random commands on queues, channels and watched keys.
#include "verification/fidelity/random_commands.hpp"

namespace holdfast::test {

using words = random_commands::words;

std::string random_commands::channel()
{
    return one_in(20) ? token() : std::string(any({"one", "two", "two+", "three+"}));
}

std::string random_commands::waiting_token()
{
    return std::string(any({"0123456789abcdef0123456789abcdef", "ffffffffffffffffffffffffffffffff",
        "a waiter with 32 characters, too"}));
}

std::string random_commands::member()
{
    if (one_in(20))
        return one_in(2) ? key() : token();
    return waiting_token() + std::string(any({"reference number", "0000000000000000"})) +
           (one_in(6) ? "" : channel());
}

std::string random_commands::ttl()
{
    std::string n = number();
    while (!one_in(5) && (n.size() > 9 || n[0] < '1' || n[0] > '9'))
        n = number();
    return n;
}

std::string random_commands::number()
{
    if (one_in(6))
        return std::string(any({"0", "-1", "x", "", " 1", "01", "+1", "-0", "1.5", "-01", "1 ",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808",
            "9223372036854775", "9223372036854776", "-9223372036854776", "99999999999999999999"}));
    if (what_ == about::no_time || one_in(3))
        return std::string(any({"100000", "200000", "99999999"}));
    return std::to_string(1 + roll(one_in(2) ? 4 : 30));
}

words random_commands::queue_call(words w, bool enqueues)
{
    const bool opens = !enqueues && one_in(3);
    const std::size_t keys = one_in(30) ? roll(4) : enqueues || opens ? 3 : 2;
    w.push_back(one_in(30) ? number() : std::to_string(keys));
    for (std::size_t i = 0; i < keys; ++i)
        w.push_back(one_in(15) ? key() : i == 0 ? "a" : i == 1 ? "q" : "w");
    const std::string me = one_in(enqueues ? 20 : 2) ? "" : member();
    w.push_back(me.size() > 32 && !one_in(3) ? me.substr(0, 32) : token());
    w.push_back(ttl());
    w.push_back(me);
    if (enqueues)
        w.insert(w.end(), {ttl(), ttl()});
    if (opens) // a period of a few ms, often
        w.insert(w.end(), {one_in(2) ? "1" : number(), ttl()});
    if (enqueues && one_in(2))
        w.push_back("again");
    while (w.size() > 3 && one_in(30))
        w.pop_back();
    return w;
}

words random_commands::join_call(words w)
{
    w.insert(w.end(), {"2", one_in(15) ? key() : "a", one_in(15) ? key() : "q", member(), ttl()});
    while (w.size() > 3 && one_in(30))
        w.pop_back();
    return w;
}

words random_commands::on_sorted_set()
{
    const std::string set = one_in(6) ? key() : "q";
    const auto score = [this] {
        return std::string(one_in(5) ? any({"0", "inf", "-inf", "1.1", "1e3", "0x10", "+1", ".5",
                                           "x", "", " 1", "1 ", "nan", "1e400", "1e-400", "1e308",
                                           "9007199254740993", "17179869184.25"})
                                     : any({"1", "2", "3", "10"}));
    };
    const auto index = [this] {
        return one_in(4) ? number() : std::string(any({"0", "1", "-1", "-2"}));
    };
    switch (roll(9)) {
    case 0:
    case 1:
    case 2: {
        words w{"ZADD", set};
        while (one_in(2))
            w.emplace_back(any({"NX", "NX", "XX", "GT", "LT", "CH"}));
        do
            w.insert(w.end(), {score(), member()});
        while (one_in(3));
        return w;
    }
    case 3:
        return one_in(2) ? words{"ZREM", set, member()} : words{"ZREM", set, member(), member()};
    case 4:
        return one_in(2) ? words{"ZPOPMIN", set} : words{"ZPOPMIN", set, index()};
    case 5:
        return {"ZCARD", set};
    case 6:
        return {"ZSCORE", set, member()};
    default:
        return one_in(2) ? words{"ZRANGE", set, index(), index()}
                         : words{"ZRANGE", set, index(), index(), "WITHSCORES"};
    }
}

words random_commands::on_channel()
{
    switch (roll(8)) {
    case 0:
        return {"SUBSCRIBE", channel()};
    case 1:
        return {"SUBSCRIBE", channel(), channel()};
    case 2:
        return {"UNSUBSCRIBE", channel()};
    case 3: // without arguments its replies have no fixed order
        return what_ == about::no_time ? words{"UNSUBSCRIBE", "one", "two", "two+", "three+"}
                                       : words{"UNSUBSCRIBE"};
    default:
        return {"PUBLISH", channel(), token()};
    }
}

words random_commands::on_tracking()
{
    if (one_in(8))
        return {"CLIENT", "TRACKING", std::string(any({"ON", "OFF", "OFF", "foo"})),
            std::string(any({"OPTIN", "OPTIN", "foo"}))};
    if (one_in(8))
        return {"CLIENT", "CACHING", std::string(any({"NO", "foo", "YES"}))};
    if (one_in(4))
        return {"CLIENT", "TRACKING", std::string(any({"ON", "OFF"}))};
    if (one_in(2))
        return {"CLIENT", "TRACKING", "ON", "OPTIN"};
    watch_next_ = true;
    return {"CLIENT", "CACHING", "YES"};
}

} // namespace holdfast::test
