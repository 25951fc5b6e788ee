#include "redis/dialect/plain_dialect.hpp"

#include "redis/node/script_call.hpp"
#include "redis/node/scripts.hpp"
#include "resp/command.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::time_point;

void plain_dialect::begin_acquire(const claim& c, bool, time_point)
{
    acquire_ = common().set(c);
}

std::string_view plain_dialect::acquire_at(std::size_t)
{
    return acquire_;
}

std::string_view plain_dialect::confirm(const claim& c, std::size_t, bool by_text, time_point)
{
    const claim* const one = &c;
    return renew({&one, 1}, by_text);
}

std::string_view plain_dialect::enqueue(
    const claim& c, std::string_view place, bool by_text, time_point)
{
    const bool again = c.keys[c.queue.node].queued;
    command_.clear();
    begin_script(command_, enqueue_script, by_text, 3, again ? 6 : 5);
    resp::append_blob(command_, c.lock);
    resp::append_blob(command_, names().queue_of(c.lock));
    resp::append_blob(command_, names().window_of(c.lock));
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, in_ms(std::min(hand_over_ttl, c.params.ttl)));
    resp::append_blob(command_, place);
    resp::append_blob(command_, in_ms(c.params.ttl));
    resp::append_blob(command_, in_ms(queue_ttl));
    if (again)
        resp::append_blob(command_, "1");
    return command_;
}

std::string_view plain_dialect::renew(std::span<const claim* const> claims, bool by_text)
{
    command_.clear();
    begin_script(command_, renew_script, by_text, claims.size(), 2 * claims.size());
    for (const claim* const each : claims)
        resp::append_blob(command_, each->lock);
    for (const claim* const each : claims) {
        resp::append_blob(command_, each->token.view());
        resp::append_blob(command_, in_ms(each->params.ttl));
    }
    return command_;
}

ballot plain_dialect::read_ballot(std::size_t, const request& r, reply answer, claim*, time_point)
{
    ballot b{.said = vote_of(answer), .why = trouble_in(answer)};
    if (r.kind != request_kind::confirm)
        return b;
    const resp::value& v = answer.front();
    b.said = v.kind == resp::value_kind::error ? vote::failed : vote::unknown;
    if (v.kind == resp::value_kind::array && v.count == 1)
        b.said = answer[1].integer == 1 ? vote::granted : vote::refused;
    return b;
}

place_answer plain_dialect::read_place(
    std::size_t, const request&, reply answer, claim*, time_point)
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
