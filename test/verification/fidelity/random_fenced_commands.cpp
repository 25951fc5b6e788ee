// Random commands on locks with a counter.
#include "verification/fidelity/random_commands.hpp"

namespace holdfast::test {

using words = random_commands::words;

// Some are near the largest token, some are no numbers.
std::string random_commands::counter()
{
    if (one_in(8))
        return std::string(any({"x", "", " 1", "1 ", "0x10", "1e3", "1.5", "-1", "inf", "-inf",
            "nan", "1e400", "1e300", "-1e300", "0x", "1x1", "18446744073709551616"}));
    if (one_in(6))
        return std::string(any({"9007199253692415", "9007199253692416", "9007199253692414",
            "9007199253691391", "9007199254740992"}));
    return std::string(any({"0", "1", "1023", "99", "1843200000000000000", "1800000000000000"}));
}

std::string random_commands::settings()
{
    return std::string(one_in(20) ? any({"1 1 1", "", "x", "1 1", "1 1  1", "1 1 1 1"})
                                  : any({"100 1000 0", "100 1000 0", "100 1000 0", "1 1000 9"}));
}

std::string random_commands::run_id()
{
    return std::string(one_in(20) ? any({"", "two words", "\t"}) : any({"r1", "r1", "r1", "r2"}));
}

std::string random_commands::record()
{
    return settings() + " " + run_id() + " " +
           std::string(one_in(3) ? any({"x", "", "-1", "+1", "1e3", "0x10", "1 1", "1 ", "inf",
                                       "nan", "9007199254740993", "99999999999999"})
                                 : any({"0", "1", "1000", "1700000000000"}));
}

std::string random_commands::fenced_key(std::string_view usual)
{
    return one_in(25) ? key() : std::string(usual);
}

words random_commands::on_counter()
{
    switch (roll(10)) {
    case 0:
    case 1:
        return {"DEL", "n"};
    case 2:
        return {"DEL", "f"};
    case 3:
        return {"DEL", "a", "f", "n", "q"};
    case 4:
        return {"SET", "f", counter(), "PX", number()};
    case 5:
        return {"SET", "f", one_in(2) ? "99" : counter()};
    case 6:
        return {"SET", "n", record()};
    case 7:
        return {"MGET", key(), key(), "f", "n"};
    case 8:
        return one_in(6) ? words{"LPUSH", fenced_key("f"), "x"} : words{"DEL", "a"};
    default:
        return {"GET", std::string(any({"f", "n"}))};
    }
}

words random_commands::fenced_acquire(words w)
{
    const std::size_t keys = one_in(30) ? roll(4) : 4;
    w.push_back(one_in(30) ? number() : std::to_string(keys));
    for (const std::string_view usual : {"a", "f", "n", "q"}) {
        if (w.size() < keys + 3)
            w.push_back(fenced_key(usual));
    }
    const std::string me = member();
    const auto floor = [this] {
        return one_in(8) ? counter()
                         : std::string(any({"0", "0", "1", "1740800000000000", "1945600000000000",
                               "4096000000000000", "9007199253691392"}));
    };
    const auto block = [this] {
        return one_in(12) ? counter() : std::string(any({"1", "1", "7", "1024"}));
    };
    const auto reach = [this] {
        return one_in(8)
                   ? number()
                   : std::string(any({"0", "1", "1000", "1000", "100000000000", "9000000000000"}));
    };
    w.insert(w.end(), {std::string(any({"ask", "ask", "confirm", "enqueue", "enqueue", "again",
                           one_in(10) ? "foo" : "again"})),
                          me.size() > 32 && !one_in(3) ? me.substr(0, 32) : token(), ttl(), floor(),
                          block(), settings(),
                          one_in(6)   ? counter()
                          : one_in(2) ? ttl()
                                      : reach(),
                          reach(), one_in(3) ? ttl() : "0", run_id(),
                          std::string(any({"first", "first", "kept", ""})), me, ttl(), ttl()});
    while (w.size() > 3 && one_in(30))
        w.pop_back();
    return w;
}

words random_commands::raise(words w)
{
    const std::size_t keys = one_in(30) ? roll(2) : 2;
    w.push_back(one_in(30) ? number() : std::to_string(keys));
    for (const std::string_view usual : {"a", "f"}) {
        if (w.size() < keys + 3)
            w.push_back(fenced_key(usual));
    }
    const std::string me = member();
    w.insert(w.end(),
        {me.size() > 32 && one_in(2) ? me.substr(0, 32) : token(), one_in(4) ? counter() : "99",
            counter(), one_in(2) ? "0" : ttl(),
            one_in(8) ? counter() : std::string(any({"1000", "9000000000000", "500000000000"}))});
    while (w.size() > 3 && one_in(30))
        w.pop_back();
    return w;
}

words random_commands::fenced_renew(words w)
{
    const std::size_t keys = one_in(30) ? roll(4) : 2 + 2 * roll(2);
    w.push_back(one_in(30) ? number() : std::to_string(keys));
    for (std::size_t i = 0; i < keys; ++i)
        w.push_back(i % 2 == 0 ? fenced_key("a") : fenced_key("f"));
    w.push_back(one_in(2) ? "0" : ttl());
    w.push_back(one_in(8) ? counter() : std::string(any({"1000", "9000000000000"})));
    for (std::size_t i = 0; i + 1 < keys; i += 2) {
        const std::string me = member();
        w.insert(
            w.end(), {me.size() > 32 && one_in(2) ? me.substr(0, 32) : token(), ttl(), counter()});
    }
    while (w.size() > 3 && one_in(30))
        w.pop_back();
    return w;
}

} // namespace holdfast::test
