// How redlock_core finds out that the key at the queue_node is not that of the holder: of a client
// that crashed as it released, say, or of one that could not reach the queue_node. Then nobody
// hands it over. See owner_survey.hpp.
#include "redis/redlock_core.hpp"
#include "redis/script_call.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using stage = claim::stage;

// Asked once in a while at most; an answer counts as long as the claim waits.
void redlock_core::ask_for_owners(claim_id id, time_point now)
{
    claim& c = claims_[id];
    end_survey(c);
    c.surveyed = true;
    c.survey = surveys_.take();
    surveys_[c.survey] = {.claim = id, .owners = owner_survey(c.nodes())};
    command_.clear();
    begin_script(command_, owner_script, true, 1, 0);
    resp::append_blob(command_, c.lock);
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (sessions_[i]->now() == node_session::reachability::ready &&
            !sessions_[i]->congested(now))
            send(i, request_kind::owner, c.survey, now);
    }
}

void redlock_core::on_owner(std::size_t node, core::slot_id id, reply answer, time_point now)
{
    survey* const s = surveys_.find(id);
    if (s == nullptr)
        return;
    const claim& c = claims_[s->claim];
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::null) {
        s->owners.record(node, owner_survey::nobody);
    } else if (v.kind == resp::value_kind::blob_string) {
        s->owners.record(node, owner_survey::owner_of(v.text));
    } else if (trouble_in(answer) == errc::key_conflict) {
        s->owners.record(node, owner_survey::other_data);
        sessions_[node]->explain("the key " + printable(c.lock) + " is no lock: ");
    } else {
        s->owners.record_silence(node);
    }
    judge_owners(s->claim, now);
}

void redlock_core::end_survey(claim& c) noexcept
{
    if (c.survey != 0)
        surveys_.give_back(c.survey);
    c.survey = 0;
}

void redlock_core::judge_owners(claim_id id, time_point now)
{
    using finding = owner_survey::finding;
    claim& c = claims_[id];
    if (c.survey == 0)
        return;
    const owner_survey owners = surveys_[c.survey].owners;
    const finding found = owners.judge(c.queue_node);
    if (found == finding::conflict)
        return refuse(id, errc::key_conflict, now);
    if (found == finding::open || c.answer_due || c.stays_out)
        return;

    end_survey(c);
    if (found == finding::free && owners.is_free(c.queue_node)) // since it told us who has it
        return send_enqueue(id, false, now);
    const std::uint64_t there = owners.owner(c.queue_node);
    const bool settled = unfit_.is_settled(c.hash, c.queue_node, there, now);
    if (!settled && c.queue_node_held_until <= now + hand_over_ttl) {
        // It may just be changing hands: then the others are free for a moment, or not yet.
        unfit_.note_owner(c.hash, c.queue_node, there, now);
        c.surveyed = false;
        claim_ends_.set(slot_index(id), std::min(c.asks_again_at, time_of_look(now)));
        return;
    }
    distrust_minority(c, owners, now);
    if (found == finding::elsewhere)
        return change_queue_node(id, now);
    contention_.forget(c.hash);
    begin_round(id, now);
}

// They are no arbiters of this resource for a while.
void redlock_core::distrust_minority(const claim& c, const owner_survey& owners, time_point now)
{
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (owners.is_minority(i))
            unfit_.note_stale(c.hash, i, owners.owner(i),
                i == c.queue_node ? c.queue_node_held_until : core::never, now);
    }
}

} // namespace holdfast::redis
