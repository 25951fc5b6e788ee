#include "redis/dialect/dialect.hpp"

#include "redis/node/script_call.hpp"
#include "redis/node/scripts.hpp"

#include <algorithm>

namespace holdfast::redis {

key_answer read_key_answer(const request& r, reply answer) noexcept
{
    key_answer a{.said = vote_of(answer), .why = trouble_in(answer)};
    if (r.kind != request_kind::confirm)
        return a;
    const resp::value& v = answer.front();
    a.said = v.kind == resp::value_kind::error ? vote::failed : vote::unknown;
    if (v.kind == resp::value_kind::array && v.count == 1)
        a.said = answer[1].integer == 1 ? vote::granted : vote::refused;
    return a;
}

place_answer read_place_answer(reply answer) noexcept
{
    using meaning = place_answer::meaning;
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::error)
        return {.said = meaning::refused};
    if (v.kind != resp::value_kind::integer)
        return {.said = meaning::broken};
    if (v.integer == 0)
        return {.said = meaning::granted};
    if (v.integer < -1)
        return {
            .said = meaning::window, .left = -1 - std::max(v.integer, -1 - in_ms(longest_window))};
    return {.said = meaning::waits, .left = v.integer};
}

} // namespace holdfast::redis
