#include "zookeeper/store_answers.hpp"

#include "zookeeper/failure.hpp"

#include <utility>

namespace holdfast::zookeeper_store {

using core::time_point;
using stage = claim::stage;
using kind = request::kind;

// A session that has ended is answered without a timeout. Some servers give a new one instead.
void store_answers::on_greeted(const wire::connect_reply& reply, time_point sent, time_point now)
{
    const bool asked_for_new = !session_.is_alive();
    const bool refused = reply.timeout_ms <= 0 || reply.session == 0;
    if (!asked_for_new && !refused && reply.session == session_.id()) {
        if (session_.resumed(reply, sent))
            course_.held().session_is_shorter(now);
        return;
    }
    course_.lose_session(now);
    if (!refused)
        return session_.began(reply, sent);
    if (asked_for_new)
        servers_.reject(errc::protocol_error, "the server grants no session", now);
    else
        servers_.begin_again(now);
}

void store_answers::on_up(time_point now)
{
    keeper_.serve(now);
    late_.wake(now);
    course_.connected(now);
    lookups_.connected(now);
}

void store_answers::on_down(time_point)
{
    out_.clear();
    keeper_.disconnected();
    late_.disconnected();
    course_.disconnected();
    lookups_.disconnected();
}

void store_answers::on_cut_off(errc why, time_point now)
{
    if (session_.is_past(now)) // a server that has lost data refuses clients that have seen more
        course_.lose_session(now);
    course_.cut_off(why, now);
    lookups_.cut_off(why);
}

void store_answers::on_reply(
    const wire::reply_header& header, std::string_view record, time_point now)
{
    session_.saw(header.zxid);
    const auto r = out_.take(now);
    if (!r || r->number != header.number)
        return servers_.fail(errc::protocol_error, "an answer to no request, or out of order", now);
    node_stats& stats = servers_.current().record().stats();
    stats.latency.record(now - r->sent);
    wire::reply_body body;
    if (header.error == wire::code::ok) {
        auto read = wire::read_body(r->operation, record);
        if (!read)
            return servers_.fail(errc::protocol_error, "an answer of another kind", now);
        body = std::move(*read);
    }
    switch (failure_of(header.error).helps) {
    case failure::remedy::none:
        break;
    case failure::remedy::new_session:
        servers_.begin_again(now);
        return course_.lose_session(now);
    case failure::remedy::other_server:
        ++stats.errors;
        return servers_.fail(failure_of(header.error).reason, in_words(header.error), now);
    }
    arrived(*r, header.error, body, now);
    keeper_.hurry(course_.is_waiting_for_session());
}

void store_answers::arrived(
    const request& r, std::int32_t error, const wire::reply_body& body, time_point now)
{
    switch (r.what) {
    case kind::create:
    case kind::list:
    case kind::look:
    case kind::leave:
    case kind::last_folder:
    case kind::waiters:
        if (claim* const c = claims_.find(r.claim))
            of_claim(r, *c, error, body, now);
        if (r.what == kind::leave)
            course_.deletions().answered(now);
        return;
    case kind::folder:
        if (error == wire::code::unimplemented && r.is_container())
            keeper_.containers_are_unknown();
        else if (error != wire::code::ok && error != wire::code::node_exists)
            keeper_.folder_failed(error);
        return;
    case kind::heartbeat:
    case kind::proof:
        return of_session(r, error, now);
    case kind::sweep:
        return late_.listed(r, body.children, now);
    case kind::question:
        return lookups_.answered(r, error, body, now);
    case kind::close_session:
        course_.lose_session(now);
        return servers_.close();
    case kind::sweep_up:
        return;
    }
}

void store_answers::of_claim(
    const request& r, claim& c, std::int32_t error, const wire::reply_body& body, time_point now)
{
    switch (r.what) {
    case kind::create:
        return course_.created(r.claim, c, error, error == wire::code::ok ? &body : nullptr, now);
    case kind::list:
        return course_.listed(r.claim, c, error, body.children, now);
    case kind::look:
        return course_.looked(r.claim, c, error, now);
    case kind::leave:
        return course_.left(r.claim, c, error, now);
    case kind::last_folder:
        return course_.has_folder(r, c, error, now);
    default:
        return waiters(r.claim, c, error, body);
    }
}

void store_answers::of_session(const request& r, std::int32_t error, time_point now)
{
    const auto outcome = keeper_.answered(r, error, now);
    if (outcome.trouble != wire::code::ok)
        return servers_.fail(failure_of(outcome.trouble).reason,
            "the session's node: " + in_words(outcome.trouble), now);
    if (outcome.works)
        servers_.note_success();
    if (outcome.confirmed)
        course_.confirmed(now);
    keeper_.serve(now); // another one if there was no node
}

void store_answers::on_event(const wire::watch_event& event, time_point now)
{
    for (const core::claim_id id : watched_.take(event.path)) {
        claim* const c = claims_.find(id);
        if (c == nullptr)
            continue;
        if (event.path == c->place.queue())
            look_for_waiters(id, now);
        else if (event.path != c->place.path_before())
            continue; // it waits for another one by now
        else if (event.change == wire::change::deleted)
            course_.before_is_gone(id, *c, now);
        else
            course_.look_again(id, *c, now);
    }
    keeper_.hurry(course_.is_waiting_for_session());
}

void store_answers::look_for_waiters(core::claim_id id, time_point now)
{
    const claim* const c = claims_.find(id);
    if (c == nullptr || c->now != stage::held || c->session != session_.id() || !out_.can_send())
        return watched_.end_report(id);
    watched_.report(id);
    out_.send(kind::waiters, id,
        {.what = wire::operation::get_children, .path = c->place.queue(), .watch = true}, now);
}

void store_answers::waiters(
    core::claim_id id, claim& c, std::int32_t error, const wire::reply_body& body)
{
    if (!watched_.reports(id))
        return;
    queue_place seen = c.place;
    seen.listed(body.children);
    if (error == wire::code::ok && seen.others() == 0)
        return watched_.watch(c.place.queue(), id);
    watched_.end_report(id);
    if (error == wire::code::ok && c.now == stage::held)
        course_.report({.kind = core::event_kind::remote_waiters, .tag = c.tag});
}

} // namespace holdfast::zookeeper_store
