// Random commands on the record and the registers of a node of fenced mode.
#include "verification/fidelity/random_commands.hpp"

namespace holdfast::test {

using words = random_commands::words;

// Some are no numbers.
std::string random_commands::number_of_any_kind()
{
    if (one_in(2))
        return number();
    return std::string(any({"x", "", " 1", "1 ", "0x10", "1e3", "1.5", "-1", "inf", "-inf", "nan",
        "1e400", "1e300", "-1e300", "0x", "1x1", "18446744073709551616", "9007199254740993"}));
}

std::string random_commands::settings()
{
    return std::string(one_in(20)  ? any({"1 1 1", "", "x", "1 1", "1 1  1", "1 1 1 1"})
                       : one_in(9) ? "100 9 16384"
                                   : "100 10 16384");
}

std::string random_commands::run_id()
{
    return std::string(one_in(60) ? any({"", "two words", "\t", "r2"}) : "r1");
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
    return one_in(40) ? key() : std::string(usual);
}

// Near the clock in the tests of the fidelity, or anything.
std::string random_commands::ballot()
{
    if (one_in(12))
        return number_of_any_kind();
    return "13600000" + std::to_string(100'000 + roll(900'000)).substr(0, 6);
}

std::string random_commands::register_name()
{
    return std::string(any({"0", "1", "7", "16383", one_in(4) ? "16384" : "8"}));
}

words random_commands::on_registers()
{
    switch (roll(24)) {
    case 0:
        return {"DEL", one_in(4) ? "f" : "n"};
    case 1:
        return one_in(3) ? words{"DEL", "a", "f", "n", "q"} : words{"DEL", "a"};
    case 2:
        return {"SET", "n", record()};
    case 3:
        return one_in(3) ? words{"ZREM", "f", register_name()} : words{"ZCARD", "f"};
    case 4:
        return one_in(3) ? words{any({"LPUSH", "SETNX"}).data(), fenced_key("f"), "x"}
                         : words{"EXISTS", "f", "n"};
    case 5:
        return {"GET", std::string(any({"f", "n"}))};
    case 6:
        return {"MGET", key(), key(), "f", "n"};
    case 7:
    case 8:
    case 9:
        return {"ZSCORE", fenced_key("f"), register_name()};
    default: {
        words w{"ZADD", fenced_key("f"), "XX", "GT", "CH", ballot(), register_name()};
        if (one_in(8))
            w.insert(w.end(), {ballot(), register_name()});
        return w;
    }
    }
}

words random_commands::open_call(words w)
{
    const std::size_t keys = one_in(40) ? roll(3) : 2;
    w.push_back(one_in(40) ? number() : std::to_string(keys));
    for (const std::string_view usual : {"n", "f"}) {
        if (w.size() < keys + 3)
            w.push_back(fenced_key(usual));
    }
    w.insert(w.end(),
        {settings(), run_id(), one_in(12) ? number_of_any_kind() : std::string(any({"100", "3"})),
            one_in(12) ? number_of_any_kind()
                       : std::string(any({"0", "1700000000000", "1700000000050", "1600000000000"})),
            std::string(any({"first", "first", "kept", ""}))});
    while (w.size() > 3 && one_in(40))
        w.pop_back();
    return w;
}

} // namespace holdfast::test
