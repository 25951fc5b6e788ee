#include "redis/dialect/fenced_calls.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"

namespace holdfast::redis {

namespace {

constexpr std::string_view lock_prefix = "hf:l:", counter_prefix = "hf:f:", queue_prefix = "hf:q:";

// Of every request for a lock; a place in the queue needs three more.
constexpr std::size_t arguments = 11;

std::string with(std::string_view key_prefix, std::string_view name)
{
    return std::string(key_prefix).append(name);
}

} // namespace

fenced_calls::fenced_calls(const fence_settings& settings, std::string_view key_prefix)
    : quarantine_(std::to_string(in_ms(settings.quarantine))),
      ahead_(std::to_string(in_ms(settings.ahead))),
      furthest_(std::to_string(in_ms(settings.furthest()))),
      lifetime_(std::to_string(in_ms(settings.counter_lifetime))),
      trust_(settings.first_deployment      ? "first"
             : settings.trusted_persistence ? "kept"
                                            : ""),
      lock_prefix_(with(key_prefix, lock_prefix)),
      counter_prefix_(with(key_prefix, counter_prefix)),
      record_(with(key_prefix, record_key)),
      names_(names(key_prefix))
{
    agreed_ = quarantine_ + " " + ahead_ + " " + lifetime_;
}

key_names fenced_calls::names(std::string_view key_prefix)
{
    return {with(key_prefix, lock_prefix), with(key_prefix, queue_prefix), {}};
}

std::string fenced_calls::counter_of(std::string_view key_prefix, std::string_view resource)
{
    return with(key_prefix, counter_prefix).append(resource);
}

void fenced_calls::name_counter(std::string& out, std::string_view lock) const
{
    out.assign(counter_prefix_).append(lock.substr(lock_prefix_.size()));
}

void fenced_calls::begin_acquire(
    std::string& out, std::string_view mode, const wanted& w, std::size_t more)
{
    begin_script(out, fenced_acquire_script, w.by_text, 4, arguments + more);
    resp::append_blob(out, w.lock);
    name_counter(name_, w.lock);
    resp::append_blob(out, name_);
    resp::append_blob(out, record_);
    resp::append_blob(out, names_.queue_of(w.lock));
    resp::append_blob(out, mode);
    resp::append_blob(out, w.token);
    resp::append_blob(out, in_ms(w.ttl));
    resp::append_blob(out, static_cast<std::int64_t>(w.floor));
    resp::append_blob(out, static_cast<std::int64_t>(w.block));
    resp::append_blob(out, agreed_);
    resp::append_blob(out, quarantine_);
    resp::append_blob(out, ahead_);
    resp::append_blob(out, lifetime_);
}

void fenced_calls::append_node(std::string& out, std::string_view run_id) const
{
    resp::append_blob(out, run_id);
    resp::append_blob(out, trust_);
}

void fenced_calls::begin_ask(std::string& out, const wanted& w)
{
    out.clear();
    begin_acquire(out, "ask", w, 0);
    shared_ = out.size();
}

void fenced_calls::end_ask(std::string& out, std::string_view run_id) const
{
    out.resize(shared_);
    append_node(out, run_id);
}

void fenced_calls::confirm(std::string& out, const wanted& w, std::string_view run_id)
{
    out.clear();
    begin_acquire(out, "confirm", w, 0);
    append_node(out, run_id);
}

void fenced_calls::enqueue(
    std::string& out, const wanted& w, std::string_view run_id, const place& p)
{
    out.clear();
    begin_acquire(out, p.again ? "again" : "enqueue", w, 3);
    append_node(out, run_id);
    resp::append_blob(out, p.name);
    resp::append_blob(out, in_ms(p.queue_ttl));
    resp::append_blob(out, in_ms(p.hand_over_ttl));
}

// No resource has an empty name, and no client has such a token.
void fenced_calls::probe(std::string& out, std::string_view run_id)
{
    confirm(out, {.lock = lock_prefix_, .token = "nobody", .ttl = std::chrono::milliseconds(1)},
        run_id);
}

void fenced_calls::write_back(
    std::string& out, const claim& c, const token_round::write_back& r, bool by_text)
{
    out.clear();
    begin_script(out, write_back_script, by_text, 2, 5);
    resp::append_blob(out, c.lock);
    name_counter(name_, c.lock);
    resp::append_blob(out, name_);
    resp::append_blob(out, c.token.view());
    resp::append_blob(out, static_cast<std::int64_t>(r.from));
    resp::append_blob(out, static_cast<std::int64_t>(r.to));
    resp::append_blob(out, lifetime_);
    resp::append_blob(out, furthest_);
}

void fenced_calls::begin_renew(std::string& out, std::size_t claims, bool by_text) const
{
    begin_script(out, fenced_renew_script, by_text, 2 * claims, 2 + 3 * claims);
}

void fenced_calls::renew_keys(std::string& out, const claim& c)
{
    resp::append_blob(out, c.lock);
    name_counter(name_, c.lock);
    resp::append_blob(out, name_);
}

void fenced_calls::renew_limits(std::string& out) const
{
    resp::append_blob(out, lifetime_);
    resp::append_blob(out, furthest_);
}

void fenced_calls::renew_arguments(std::string& out, const claim& c)
{
    resp::append_blob(out, c.token.view());
    resp::append_blob(out, in_ms(c.params.ttl));
    resp::append_blob(out, static_cast<std::int64_t>(c.round.last_token()));
}

} // namespace holdfast::redis
