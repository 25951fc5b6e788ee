#include "redis/dialect/common_calls.hpp"

#include "core/hex.hpp"
#include "redis/node/script_call.hpp"
#include "redis/node/scripts.hpp"
#include "resp/command.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;

common_calls::common_calls(key_names& names, std::string channel)
    : names_(names),
      channel_(std::move(channel)),
      set_(resp::encoded_head({"SET"}, 5)),
      remove_(resp::encoded_head({"EVALSHA", release_script.digest, "1"}, 2)),
      pass_on_(resp::encoded_head({"EVALSHA", pass_on_script.digest, "2"}, 5)),
      baton_(resp::encoded_head({"EVALSHA", baton_script.digest, "2"}, 5))
{}

bool common_calls::knows_batons() const noexcept
{
    return channel_.ends_with(baton_mark);
}

std::string common_calls::place_of(const claim& c, claim_id id) const
{
    std::string place(c.place().view());
    core::append_hex(place, id);
    return place += channel_;
}

std::string_view common_calls::set(const claim& c)
{
    const resp::decimal ttl(in_ms(c.params.ttl));
    command_.clear();
    resp::append_command(command_, set_, {c.lock, c.token.view(), "NX", "PX", ttl.view()});
    return command_;
}

std::string_view common_calls::repair(const claim& c, std::size_t node)
{
    const resp::decimal ttl(in_ms(c.params.ttl));
    command_.clear();
    resp::append_command(command_, set_, {c.lock, c.value_at(node), "NX", "PX", ttl.view()});
    return command_;
}

std::string_view common_calls::renew(
    std::span<const claim* const> claims, std::size_t node, bool by_text)
{
    command_.clear();
    begin_script(command_, renew_script, by_text, claims.size(), 2 * claims.size());
    for (const claim* const each : claims)
        resp::append_blob(command_, each->lock);
    for (const claim* const each : claims) {
        resp::append_blob(command_, each->value_at(node));
        resp::append_blob(command_, in_ms(each->params.ttl));
    }
    return command_;
}

// The key has our token already. The full ttl makes it ours.
std::string_view common_calls::confirm(const claim& c, std::size_t node, bool by_text)
{
    const claim* const one = &c;
    return renew({&one, 1}, node, by_text);
}

std::string_view common_calls::remove(const claim& c, std::size_t node, bool by_text)
{
    command_.clear();
    if (by_text)
        resp::append_command(
            command_, {"EVAL", release_script.text, "1", c.lock, c.value_at(node)});
    else
        resp::append_command(command_, remove_, {c.lock, c.value_at(node)});
    return command_;
}

std::string_view common_calls::remove_turn(const claim& c)
{
    command_.clear();
    resp::append_command(command_, remove_, {c.lock, c.place().view()});
    return command_;
}

std::string_view common_calls::hand_off(
    const claim& c, std::size_t node, std::string_view place, bool by_text)
{
    const std::string_view queue = names_.queue_of(c.lock);
    const resp::decimal ttl(in_ms(std::min(hand_over_ttl, c.params.ttl)));
    command_.clear();
    if (!c.keys[node].leaves_open) {
        if (by_text)
            resp::append_command(command_, {"EVAL", pass_on_script.text, "2", c.lock, queue,
                                               c.value_at(node), ttl.view(), place});
        else
            resp::append_command(
                command_, pass_on_, {c.lock, queue, c.value_at(node), ttl.view(), place});
        return command_;
    }
    const resp::decimal behind(c.params.polling.period_ms - c.params.polling.window_ms);
    const resp::decimal period(c.params.polling.period_ms);
    resp::append_command(
        command_, {script_command(by_text), script_name(pass_on_script, by_text), "3", c.lock,
                      queue, names_.window_of(c.lock), c.value_at(node), ttl.view(), place,
                      behind.view(), period.view()});
    return command_;
}

std::string_view common_calls::give_baton(
    const claim& c, std::size_t node, std::string_view terms, bool by_text)
{
    const std::string_view queue = names_.queue_of(c.lock);
    const resp::decimal ttl(in_ms(std::min(hand_over_ttl, c.params.ttl)));
    command_.clear();
    if (by_text)
        resp::append_command(command_,
            {"EVAL", baton_script.text, "2", c.lock, queue, c.value_at(node), terms, ttl.view()});
    else
        resp::append_command(
            command_, baton_, {c.lock, queue, c.value_at(node), terms, ttl.view()});
    return command_;
}

std::string_view common_calls::enqueue(const claim& c, std::string_view place, bool by_text)
{
    const bool again = c.keys[c.queue.node].queued;
    command_.clear();
    begin_script(command_, enqueue_script, by_text, 3, again ? 6 : 5);
    resp::append_blob(command_, c.lock);
    resp::append_blob(command_, names_.queue_of(c.lock));
    resp::append_blob(command_, names_.window_of(c.lock));
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, in_ms(std::min(hand_over_ttl, c.params.ttl)));
    resp::append_blob(command_, place);
    resp::append_blob(command_, in_ms(c.params.ttl));
    resp::append_blob(command_, in_ms(queue_ttl));
    if (again)
        resp::append_blob(command_, "1");
    return command_;
}

std::string_view common_calls::join(const claim& c, std::string_view place)
{
    command_.clear();
    begin_script(command_, join_script, true, 2, 2);
    resp::append_blob(command_, c.lock);
    resp::append_blob(command_, names_.queue_of(c.lock));
    resp::append_blob(command_, place);
    resp::append_blob(command_, in_ms(queue_ttl));
    return command_;
}

std::string_view common_calls::leave(const claim& c, std::string_view place)
{
    command_.clear();
    resp::append_command(command_, {"ZREM", names_.queue_of(c.lock), place});
    return command_;
}

std::string_view common_calls::first_of_queue(const claim& c)
{
    command_.clear();
    resp::append_command(command_, {"ZRANGE", names_.queue_of(c.lock), "0", "0"});
    return command_;
}

std::string_view common_calls::has_queue(const claim& c)
{
    command_.clear();
    resp::append_command(command_, {"EXISTS", names_.queue_of(c.lock)});
    return command_;
}

// Rare, so that no connection loads it.
std::string_view common_calls::untrack_queue(const claim& c)
{
    command_.clear();
    begin_script(command_, untrack_script, true, 1, 0);
    resp::append_blob(command_, names_.queue_of(c.lock));
    return command_;
}

std::string_view common_calls::owner(const claim& c)
{
    command_.clear();
    begin_script(command_, owner_script, true, 1, 0);
    resp::append_blob(command_, c.lock);
    return command_;
}

std::string_view common_calls::track_next()
{
    command_.clear();
    resp::append_command(command_, {"CLIENT", "CACHING", "YES"});
    return command_;
}

std::string_view common_calls::time_left(std::string_view lock)
{
    command_.clear();
    resp::append_command(command_, {"PTTL", lock});
    return command_;
}

std::string_view common_calls::type(std::string_view lock)
{
    command_.clear();
    resp::append_command(command_, {"TYPE", lock});
    return command_;
}

} // namespace holdfast::redis
