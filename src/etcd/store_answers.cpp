#include "etcd/store_answers.hpp"

#include "etcd/wire/messages.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::etcd_store {

using core::time_point;
using stage = claim::stage;
using kind = request::kind;

void store_answers::on_up(time_point now)
{
    desk_.now_is(now);
    sessions_.connected(now);
    claims_.for_each([this](core::claim_id id, const claim& c) {
        if (c.now != stage::held)
            desk_.want(id);
    });
    lookups_.connected(now);
}

void store_answers::on_cut_off(errc why, time_point now)
{
    course_.cut_off(why, now);
    lookups_.cut_off(why);
}

// A request without an answer may have been executed, or may still be. To ask once more is safe: a
// claim has one key, which is never used again.
void store_answers::on_down(time_point now)
{
    desk_.now_is(now);
    for (const auto& [call, r] : calls_.all())
        drop(r);
    claims_.for_each([](core::claim_id, claim& c) {
        c.call = 0;
        c.early.clear();
    });
    sessions_.disconnected();
    watches_.ended();
    lookups_.disconnected();
    calls_.clear();
    desk_.forget_requests();
}

void store_answers::on_arrival(const wire::arrival& what, time_point now)
{
    desk_.now_is(now);
    request* const found = calls_.find(what.call);
    if (found == nullptr)
        return on_stream(what, now);
    if (!what.ended) {
        found->answer = what.text;
        return;
    }
    const request r = calls_.take(what.call);
    if (claim* const c = claims_.find(r.claim))
        c->call = 0;
    if (claim* const c = claims_.find(r.leaves))
        c->call = 0;
    node_stats& stats = members_.current().record().stats();
    stats.latency.record(now - r.sent);
    if (*what.ended == wire::status::ok && r.answer)
        return arrived(r, now);
    ++stats.errors;
    failed(r, failure_of(*what.ended == wire::status::ok ? -1 : *what.ended, what.text), what.text,
        now);
}

// Of the calls that go on: watches, and sessions that are kept alive. Or of a question.
void store_answers::on_stream(const wire::arrival& what, time_point now)
{
    if (lookups_.take(what, now))
        return;
    const auto session = sessions_.kept_by(what.call);
    const bool of_watches = what.call == watches_.call();
    if (!of_watches && !session)
        return; // it was given up
    if (what.ended) {
        const failure f = failure_of(*what.ended, what.text);
        return members_.fail(f.reason, what.text, now);
    }
    if (of_watches) {
        if (const auto reply = wire::read_watch(what.text))
            return watched(*reply, now);
    } else if (const auto reply = wire::read_lease(what.text)) {
        return kept_alive(*session, *reply, now);
    }
    members_.fail(errc::protocol_error, "an answer that is no message of etcd", now);
}

void store_answers::arrived(const request& r, time_point now)
{
    switch (r.what) {
    case kind::ask:
        if (const auto reply = wire::read_txn(*r.answer)) {
            if (accept(reply->header, r.revision, now))
                asked(r, *reply, now);
            else
                drop(r);
            return;
        }
        break;
    case kind::list:
        if (const auto reply = wire::read_list(*r.answer)) {
            if (accept(reply->header, r.revision, now))
                listed(r, *reply, now);
            return;
        }
        break;
    case kind::leave:
        if (const auto reply = wire::read_removal(*r.answer)) {
            if (claims_.find(r.claim) != nullptr)
                course_.left(r.claim, reply->found.deleted != 0, now);
            return;
        }
        break;
    case kind::bar:
        if (const auto reply = wire::read_txn(*r.answer); reply && reply->answers.size() == 2) {
            if (claims_.find(r.claim) != nullptr)
                course_.left(r.claim, reply->answers[1].deleted != 0, now);
            return;
        }
        break;
    case kind::grant_lease:
        if (sessions_.granted(r)) {
            claims_.for_each([this, &r](core::claim_id id, const claim& c) {
                if (c.session == r.session && c.now == stage::asking)
                    desk_.want(id);
            });
            return;
        }
        break;
    case kind::clear:
        return desk_.is_cleared(true, now);
    case kind::revoke_lease:
        return;
    }
    drop(r);
    members_.fail(errc::protocol_error, "an answer that is no message of etcd", now);
}

// The answer is of no use, so the request may have been executed.
void store_answers::drop(const request& r)
{
    if (claim* const c = claims_.find(r.claim); c != nullptr && r.what == kind::ask)
        c->dubious = true;
}

// False if the store is not the one that answered before, or has lost what it knew.
bool store_answers::accept(const wire::reply_header& header, std::int64_t floor, time_point now)
{
    switch (history_.check(header, floor)) {
    case store_history::verdict::same:
        members_.note_success();
        return true;
    case store_history::verdict::other_cluster:
        members_.fail(errc::misconfigured_node, "the member of another cluster", now);
        break;
    case store_history::verdict::went_back:
        members_.fail(errc::misconfigured_node,
            "the store has lost changes: its revision has gone back", now);
        break;
    }
    return false;
}

void store_answers::asked(const request& r, const wire::txn_reply& reply, time_point now)
{
    std::size_t next = 0; // answer to be read
    const auto answer = [&]() -> const wire::answer& {
        static const wire::answer none;
        return next < reply.answers.size() ? reply.answers[next++] : none;
    };
    if (r.leaves != 0) {
        const bool deleted = answer().deleted != 0;
        if (claims_.find(r.leaves) != nullptr)
            course_.left(r.leaves, deleted, now);
    }
    claim* const c = claims_.find(r.claim);
    if (c == nullptr)
        return;
    if (reply.none_existed) {
        answer(); // of the put
        c->place.created_at(reply.header.revision);
        if (c->uses_queue)
            c->place.listed(answer());
        else
            c->place.listed({{{c->place.key(), reply.header.revision}}, false, 0});
    } else {
        if (c->uses_queue) {
            const wire::answer& own = answer();
            c->place.created_at(own.keys.empty() ? 0 : own.keys.front().created);
        }
        c->place.listed(answer());
    }
    const bool has_key = c->place.where() != queue_place::state::absent;
    if (c->now == stage::leaving) {
        if (!has_key && !c->dubious)
            course_.left(r.claim, false, now);
        else
            course_.leave(r.claim, *c, now);
        return;
    }
    if (c->now != stage::asking)
        return;
    if (!has_key && !c->uses_queue && !reply.none_existed) {
        if (c->place.has_others())
            return course_.refuse_without_key(r.claim, errc::contended, now);
        c->uses_queue = true; // the keys that were found belong to other resources
        return desk_.want(r.claim);
    }
    c->apply_early();
    course_.decide(r.claim, *c, reply.header.revision, now);
}

void store_answers::listed(const request& r, const wire::list_reply& reply, time_point now)
{
    claim* const c = claims_.find(r.claim);
    if (c == nullptr)
        return;
    if (c->now == stage::leaving)
        return course_.leave(r.claim, *c, now);
    c->place.listed(reply.found);
    c->apply_early();
    c->asked = now;
    course_.decide(r.claim, *c, reply.header.revision, now);
}

void store_answers::failed(
    const request& r, const failure& f, const std::string& text, time_point now)
{
    if (r.what == kind::grant_lease) {
        sessions_[r.session].refused();
        if (members_.can_mend(f))
            return members_.fail(f.reason, text, now);
        return refuse_new(r, f.reason, now);
    }
    if (r.what == kind::revoke_lease)
        return; // it ends by itself
    if (r.what == kind::clear)
        desk_.is_cleared(false, now);
    if (f.had == failure::effect::possible_later)
        drop(r);
    if (members_.can_mend(f))
        return members_.fail(f.reason, text, now);
    if (claims_.find(r.leaves) != nullptr)
        desk_.want(r.leaves);
    claim* const c = claims_.find(r.claim);
    if (c == nullptr)
        return;
    if (f.helps == failure::remedy::new_lease) {
        if (c->lease == sessions_[c->session].lease())
            return course_.lose_session(c->session, now);
        c->lease = 0;
        c->dubious = false;
        return c->now == stage::leaving ? course_.left(r.claim, false, now) : desk_.want(r.claim);
    }
    const bool may_have_key = f.had != failure::effect::none;
    if (c->now == stage::leaving) {
        if (r.what == kind::ask && !c->dubious)
            return may_have_key ? course_.leave(r.claim, *c, now)
                                : course_.left(r.claim, false, now);
        return course_.leave_later(r.claim, *c, now);
    }
    if (r.what == kind::ask && !may_have_key)
        return course_.refuse_without_key(r.claim, f.reason, now);
    course_.refuse(r.claim, f.reason, now);
}

// The session cannot begin, and other sessions go on.
void store_answers::refuse_new(const request& r, errc why, time_point now)
{
    std::vector<core::claim_id> asking;
    claims_.for_each([&](core::claim_id id, const claim& c) {
        if (c.session == r.session && c.now == stage::asking && c.call == 0)
            asking.push_back(id);
    });
    for (const core::claim_id id : asking) {
        claim& c = claims_[id];
        if (c.asked == core::never)
            c.asked = r.sent;
        course_.refuse_without_key(id, why, now);
    }
}

void store_answers::watched(const wire::watch_reply& reply, time_point now)
{
    if (reply.created && !reply.canceled)
        watch_was_refused_ = false;
    if (const core::claim_id holder = watches_.reported_to(reply); holder != 0)
        return waited(holder, reply);
    const core::claim_id id = watches_.claim_of(reply);
    claim* const c = claims_.find(id);
    if (reply.canceled) {
        const bool known = watches_.canceled(reply);
        const bool denied = reply.reason.find("permission denied") != std::string::npos;
        if (!known && reply.created) // refused, by a server that does not say which one
            return watch_refused(
                denied ? errc::permission_denied : errc::node_error, reply.reason, now);
        if (c == nullptr || c->now != stage::waiting)
            return;
        if (denied)
            return course_.refuse(id, errc::permission_denied, now);
        return desk_.want(id); // lists the queue, and watches from there
    }
    if (c == nullptr)
        return;
    if (c->call != 0) {
        c->early.insert(c->early.end(), reply.deletions.begin(), reply.deletions.end());
        return;
    }
    course_.deleted(id, *c, reply.deletions, now);
}

// A login that was not used for long may have ended, and some servers call that a missing right. So
// the reason counts if a new login does not help.
void store_answers::watch_refused(errc why, const std::string& text, time_point now)
{
    const bool tries_again = members_.logs_in() && !std::exchange(watch_was_refused_, true);
    members_.fail(tries_again ? errc::unreachable : why, text, now);
}

// Others have put keys into the queue of a claim, or it is not watched any more: then they may.
void store_answers::waited(core::claim_id holder, const wire::watch_reply& reply)
{
    const claim& c = claims_[holder];
    const bool others = std::any_of(reply.puts.begin(), reply.puts.end(),
        [&c](const std::string& key) { return c.place.is_in_queue(key); });
    if (!others && !reply.canceled)
        return;
    watches_.end_report(holder, reply.canceled ? nullptr : &members_.current());
    if (c.now == stage::held)
        course_.report({.kind = core::event_kind::remote_waiters, .tag = c.tag});
}

void store_answers::kept_alive(std::size_t i, const wire::lease_reply& reply, time_point now)
{
    const auto sent = sessions_.confirmed(i, reply.ttl_seconds);
    if (!sent)
        return members_.fail(errc::protocol_error, "an answer to no request", now);
    if (reply.ttl_seconds <= 0)
        return course_.lose_session(i, now);
    course_.confirmed(i, *sent, now);
}

} // namespace holdfast::etcd_store
