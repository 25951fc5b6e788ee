#pragma once

#include "unit/sql/world.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace holdfast::test {

/// `b` asks, most of the time.
struct asking_world : sql_world {
    void begin(core::inspection_task what, std::string_view name = "a", std::uint64_t tag = 1)
    {
        b.core.inspection()->begin({.task = what, .tag = tag, .name = name}, now);
        b.settle();
    }
    std::optional<core::inspection_result> take_result()
    {
        b.settle();
        return b.core.inspection()->next_result();
    }
    template <class Found>
    Found result(errc reason = errc{})
    {
        auto told = take_result();
        BOOST_REQUIRE(told.has_value());
        BOOST_TEST((told->reason == reason));
        BOOST_TEST(!take_result().has_value());
        return std::get<Found>(std::move(told->found));
    }
    resource_report inspect(std::string_view name = "a")
    {
        begin(core::inspection_task::inspect, name);
        b.serve();
        return result<resource_report>();
    }
    lock_list list(std::string_view prefix)
    {
        begin(core::inspection_task::list, prefix);
        b.serve();
        return result<lock_list>();
    }
    bool asks(sql::question::kind what)
    {
        return b.database->asked() && b.database->asked()->get().what == what;
    }
    void reply()
    {
        b.database->reply(now);
        b.settle();
    }
    void add_row(const std::string& name, bool held = true)
    {
        model.rows[name] = {held ? b.owner(1) : "", {1, 2}, held ? model.clock + 5'000'000 : 0, {}};
    }
};

} // namespace holdfast::test
