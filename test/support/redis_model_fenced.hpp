#pragma once

#include "support/redis_model_call.hpp"
#include "support/redis_model_lua.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

// A script of fenced mode that is being executed.
struct redis_model::call::fenced {
    using word = lua::word;
    using lua_number = lua::lua_number;

    call& c;
    arguments names, values;
    double now = 0;

    word key(std::size_t i) const { return at(names, i - 1); }
    word value(std::size_t i) const { return at(values, i - 1); }
    static arguments from(arguments all, std::size_t i)
    {
        return all.subspan(std::min(i - 1, all.size()));
    }

    // The commands, if they do not fail.
    void look() const { c.watch(names); } // by a command that reads
    std::optional<std::string> read(std::string_view name) const;
    std::optional<std::string> get(std::string_view name) const;
    bool exists(word name) const;
    std::int64_t pttl(word name) const;
    bool set(word name, word what, word ttl, bool only_new = false) const;
    void keep(word name, word what, word lifetime) const;
    void pexpire(word name, word ttl) const;

    void answer(double first, double second) const;
    lua_number number_of(std::size_t value) const;
    double most(double reach) const;
    lua_number grants_from(const std::optional<std::string>& stored);
    bool wait(bool held) const;
    double start(lua_number last, double from) const;
    bool has_no_tokens(const std::optional<std::string>& holder,
        const std::optional<std::string>& highest, double first);
    void acquire();
    void raise();
    void renew();
};

} // namespace holdfast::test
