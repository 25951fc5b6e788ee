#pragma once

#include "core/inspection.hpp"
#include "sql/exchange.hpp"

#include <holdfast/inspect.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sql {

// Finds out who holds one resource, or all resources whose names begin alike; or takes a resource
// away from its holder. Says what is to be asked next, and reads the replies.
class survey {
public:
    enum class state : std::uint8_t {
        asks,  // next() is to be asked
        rests, // next() is to be asked a little later
        hears, // the old holder is to answer that it is told
        over,  // found() is complete, and so is reason()
    };

    // `name`: a resource, or the beginning of names. `store`: the name of it.
    survey(core::inspection_task task, std::string name, std::string store);

    state now() const noexcept { return state_; }
    // Precondition: it asks or rests. `address`: of this locker; may be empty. Valid until the next
    // call.
    question next(std::string_view address) const;
    // Whether next() changes the table: then it must not be asked twice.
    bool takes() const noexcept { return taking_; }

    // The reply to next(). `address`: as it was then.
    void read(const reply& what, std::string_view address);
    // The question was not answered, for a reason that passes.
    void put_off(errc why);
    // It has rested.
    void wake() noexcept { state_ = state::asks; }
    // The old holder of such a name is told.
    void heard(std::string_view owner);
    // It ends here.
    void give_up(errc why);

    errc reason() const noexcept { return reason_; }
    // What was found until now.
    core::inspection_result result() &&;

private:
    void look(const reply& what);
    void add(const reply& what);

    const core::inspection_task task_;
    const std::string name_, store_;
    state state_ = state::asks;
    errc reason_{};
    bool taking_ = false, waits_ = true;
    resource_report report_;
    std::string owner_; // take: the one that was seen
    forced_release forced_;
    lock_list list_;
    std::string from_, end_; // list: of the rows that are not read yet
    std::size_t bytes_ = 0;  // of the names in the list
};

} // namespace holdfast::sql
