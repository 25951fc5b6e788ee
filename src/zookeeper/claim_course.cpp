#include "zookeeper/claim_course.hpp"

#include "zookeeper/failure.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_store {

using core::event_kind;
using core::time_point;
using stage = claim::stage;
using kind = request::kind;
using namespace std::chrono_literals;

claim_course::claim_course(claim_table& claims, session& kept, session_keeper& keeper,
    requester& out, latecomers& late, watched_nodes& watched, const servers& all,
    const lock_settings& settings)
    : claims_(claims),
      session_(kept),
      keeper_(keeper),
      out_(out),
      late_(late),
      watched_(watched),
      servers_(all),
      settings_(settings),
      value_(settings.client_name),
      held_(claims, kept, events_),
      removals_(claims, out)
{}

core::duration claim_course::answer_time() const noexcept
{
    if (settings_.request_timeout != core::duration(0))
        return settings_.request_timeout;
    return std::clamp<core::duration>(session_.timeout() / 6, 500ms, 2s);
}

std::optional<core::backend_event> claim_course::next_event()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

void claim_course::begin(core::claim_id id, claim& c, time_point now)
{
    // A connection and a session may have to be begun first.
    const core::duration preparation =
        can_ask() ? core::duration(0) : settings_.ensemble.connect_timeout;
    deadlines_.set(id, now + patience(c.terms.ttl) + preparation);
    ask(id, c, now);
}

// Creates the node, and lists the queue as it is then.
void claim_course::ask(core::claim_id id, claim& c, time_point now)
{
    if (!can_ask())
        return; // connected() asks
    c.session = session_.id();
    c.asked = now;
    c.trouble = wire::code::ok;
    c.creating = true;
    out_.send(kind::create, id,
        {.what = wire::operation::create2,
            .path = c.place.queue() + '/' + c.prefix(),
            .data = value_,
            .rights = settings_.rights,
            .mode = wire::node_mode::ephemeral_sequential},
        now);
    list(id, c, now);
}

void claim_course::list(core::claim_id id, claim& c, time_point now)
{
    if (!can_ask())
        return;
    stop_watching(id, c);
    c.listing = true;
    out_.send(
        kind::list, id, {.what = wire::operation::get_children, .path = c.place.queue()}, now);
}

// Its node is gone, or was never there: it goes to the end of the queue.
void claim_course::ask_anew(core::claim_id id, claim& c, time_point now)
{
    stop_watching(id, c);
    ++c.tries;
    c.session = 0;
    c.now = stage::asking;
    c.place.reset(c.place.queue());
    ask(id, c, now);
}

void claim_course::created(
    core::claim_id id, claim& c, std::int32_t error, const wire::reply_body* node, time_point now)
{
    c.creating = false;
    c.trouble = error;
    if (node != nullptr && !c.place.created_as(node->path, node->stat.created)) {
        c.trouble = wire::code::marshalling_error;
        late_.add(c.place.queue(), c.prefix()); // whatever it is called
    }
    if (c.now != stage::leaving)
        return; // the list follows
    if (c.trouble == wire::code::ok)
        removals_.ask(id, c, now);
    else
        end(id, false);
}

void claim_course::listed(core::claim_id id, claim& c, std::int32_t error,
    const std::vector<std::string>& names, time_point now)
{
    c.listing = false;
    if (c.now != stage::asking && c.now != stage::waiting)
        return;
    if (c.now == stage::asking && c.trouble == wire::code::no_node)
        return keeper_.make_folder(c.place.queue(), false, id, now);
    if (c.now == stage::asking && c.trouble != wire::code::ok)
        return refuse(id, failure_of(c.trouble).reason, now);
    if (error == wire::code::no_node)
        return ask_anew(id, c, now);
    if (error != wire::code::ok)
        return refuse(id, failure_of(error).reason, now);
    // When nobody has a node in the folder any more, the server removes it, and a new one counts
    // from 0. Until then nobody can tell who is the next.
    if (!c.place.has_order())
        return refuse(id, errc::contended, now);
    if (c.now == stage::waiting)
        c.asked = now;
    c.place.listed(names);
    decide(id, c, now);
}

// A folder that was empty for long is removed, perhaps before the node is created in it.
void claim_course::has_folder(const request& r, claim& c, std::int32_t error, time_point now)
{
    const core::claim_id id = r.claim;
    constexpr unsigned most = 16;
    if (c.now != stage::asking)
        return;
    if (++c.folders_made == most)
        return refuse(id, errc::node_error, now);
    if (error == wire::code::unimplemented && r.is_container()) {
        keeper_.containers_are_unknown();
        return keeper_.make_folder(c.place.queue(), false, id, now);
    }
    if (error == wire::code::no_node)
        return keeper_.make_folder(c.place.queue(), true, id, now);
    if (error != wire::code::ok && error != wire::code::node_exists)
        return refuse(id, failure_of(error).reason, now);
    ask(id, c, now);
}

void claim_course::decide(core::claim_id id, claim& c, time_point now)
{
    switch (c.place.where()) {
    case queue_place::state::absent:
        return ask_anew(id, c, now);
    case queue_place::state::first:
        return take_turn(id, c, false, now);
    case queue_place::state::waits:
        break;
    }
    if (c.terms.queue == core::queueing::none)
        return refuse(id, errc::contended, now);
    c.now = stage::waiting;
    look_again(id, c, now);
    if (!std::exchange(c.parked, true))
        report({.kind = event_kind::queued, .tag = c.tag});
    deadlines_.set(id, core::never);
}

void claim_course::stop_watching(core::claim_id id, const claim& c)
{
    if (c.now == stage::waiting)
        watched_.forget(c.place.path_before(), id);
}

// A server keeps the watch of a node that does not exist, unless the data is asked for.
void claim_course::look_again(core::claim_id id, claim& c, time_point now)
{
    if (c.now != stage::waiting || c.listing)
        return;
    const std::string before = c.place.path_before();
    watched_.watch(before, id);
    out_.send(
        kind::look, id, {.what = wire::operation::get_data, .path = before, .watch = true}, now);
}

void claim_course::looked(core::claim_id id, claim& c, std::int32_t error, time_point now)
{
    if (c.now != stage::waiting || c.listing)
        return;
    if (error == wire::code::no_node) {
        const std::string path = c.place.path_before();
        for (const core::claim_id each : watched_.take(path)) {
            if (claim* const other = claims_.find(each))
                before_is_gone(each, *other, now);
        }
    } else if (error != wire::code::ok) {
        refuse(id, failure_of(error).reason, now);
    }
}

void claim_course::before_is_gone(core::claim_id id, claim& c, time_point now)
{
    if (c.now != stage::waiting || c.listing)
        return;
    if (!c.place.before_is_gone())
        return list(id, c, now);
    c.asked = now;
    take_turn(id, c, false, now);
}

// The node is the first one, and stays it as long as the session lives. `is_confirmed`: the session
// was confirmed just now.
void claim_course::take_turn(core::claim_id id, claim& c, bool is_confirmed, time_point now)
{
    const core::validity valid =
        session_.valid_for(c.terms.ttl, c.terms.drift, is_confirmed ? now : c.asked);
    const core::duration rest = valid.until - std::min(now, valid.until);
    const core::duration enough = std::max(valid.ttl / 4, c.terms.guard + valid.ttl / 16);
    if (!is_confirmed && rest < enough) {
        c.now = stage::first;
        deadlines_.set(id, now + patience(c.terms.ttl));
        turns_.push_back(id);
        return;
    }
    if (rest <= c.terms.guard)
        return refuse(id, errc::too_late, now);
    c.now = stage::held;
    c.renewed = valid.asked;
    deadlines_.set(id, core::never);
    report({.kind = event_kind::granted,
        .tag = c.tag,
        .valid = valid,
        .asked = c.asked,
        .fence = c.fence()});
}

void claim_course::confirmed(time_point now)
{
    std::vector<core::claim_id> turns;
    turns.swap(turns_);
    for (const core::claim_id id : turns) {
        claim* const c = claims_.find(id);
        if (c != nullptr && c->now == stage::first)
            take_turn(id, *c, true, now);
    }
    held_.confirmed(now);
}

void claim_course::connected(time_point now)
{
    claims_.for_each([&](core::claim_id id, claim& c) {
        if (c.now == stage::leaving)
            removals_.ask(id, c, now);
    });
    claims_.for_each([&](core::claim_id id, claim& c) {
        if (c.now == stage::waiting || (c.now == stage::asking && !c.place.node().empty()))
            list(id, c, now);
        else if (c.now == stage::asking)
            ask(id, c, now);
    });
}

void claim_course::disconnected()
{
    watched_.clear();
    removals_.disconnected();
    claims_.for_each([&](core::claim_id id, claim& c) {
        c.listing = false;
        if (!std::exchange(c.creating, false))
            return;
        late_.add(c.place.queue(), c.prefix());
        ++c.tries;
        c.session = 0;
        if (c.now == stage::leaving)
            end(id, false);
    });
}

void claim_course::lose_session(time_point now)
{
    const std::int64_t gone = session_.id();
    if (gone == 0)
        return;
    session_.lost();
    late_.clear();
    turns_.clear();
    held_.session_is_lost();
    claims_.for_each([&](core::claim_id id, claim& c) {
        if (c.session != gone)
            return;
        c.session = 0;
        if (c.now == stage::held) {
            report({.kind = event_kind::lost, .tag = c.tag});
        } else if (c.now == stage::leaving) {
            end(id, false);
        } else {
            if (c.now == stage::first)
                deadlines_.set(id, c.parked ? core::never : now + patience(c.terms.ttl));
            ask_anew(id, c, now);
        }
    });
}

void claim_course::cut_off(errc why, time_point now)
{
    claims_.for_each([&](core::claim_id id, const claim& c) {
        const bool waits =
            c.now == stage::asking || c.now == stage::waiting || c.now == stage::first;
        if (waits && !c.parked)
            refuse(id, reason_or_unreachable(why), now);
    });
}

void claim_course::refuse(core::claim_id id, errc why, time_point now)
{
    claim& c = claims_[id];
    report({.kind = event_kind::refused, .reason = why, .tag = c.tag, .asked = c.asked});
    leave(id, c, now);
}

void claim_course::leave(core::claim_id id, claim& c, time_point now)
{
    stop_watching(id, c);
    c.now = stage::leaving;
    const bool may_have_node =
        c.session != 0 && c.session == session_.id() && (c.creating || !c.place.node().empty());
    if (!may_have_node)
        return end(id, false);
    deadlines_.set(id, now + patience(c.terms.ttl));
    if (!c.creating) // else its name is awaited
        removals_.ask(id, c, now);
}

// An earlier request without an answer may have deleted the node.
void claim_course::left(core::claim_id id, claim& c, std::int32_t error, time_point now)
{
    if (error == wire::code::ok)
        end(id, true);
    else if (error == wire::code::no_node)
        end(id, c.removals > 1 && c.session == session_.id());
    else // not now: again, after a while
        deadlines_.set(id, now + patience(c.terms.ttl));
}

void claim_course::end(core::claim_id id, bool deleted)
{
    claim& c = claims_[id];
    if (std::exchange(c.unanswered, false))
        report({.kind = event_kind::released,
            .outcome = deleted ? release_outcome::released : release_outcome::expired,
            .tag = c.tag});
    deadlines_.set(id, core::never);
    watched_.end_report(id);
    watched_.forget(c.place.queue(), id);
    claims_.give_back(id);
}

void claim_course::wake(time_point now)
{
    while (const auto due = deadlines_.pop_due(now))
        expire(*due, now);
}

// The deadline of a claim has come.
void claim_course::expire(core::claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (c.now != stage::leaving)
        return refuse(id, reason_or_unreachable(servers_.cut_off()), now);
    if (std::exchange(c.unanswered, false))
        report(
            {.kind = event_kind::released, .outcome = release_outcome::unconfirmed, .tag = c.tag});
    deadlines_.set(id, now + patience(c.terms.ttl));
    if (!c.creating)
        removals_.ask(id, c, now);
}

} // namespace holdfast::zookeeper_store
