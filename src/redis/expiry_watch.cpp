#include "redis/expiry_watch.hpp"

#include "redis/quorum/majority.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace holdfast::redis {

using core::time_point;

void expiry_watch::watch(std::uint64_t tag, std::string_view resource, time_point now)
{
    const std::string_view lock = dialect_.names().lock_of(resource);
    const core::slot_id id = questions_.take();
    question& q = questions_[id];
    q.tag = tag;
    q.lock.assign(lock);
    q.outstanding = q.answers = q.conflicts = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        q.free_at[i] = core::never;
        if (!nodes_.is_ready(i) || nodes_[i].congested(now))
            continue;
        q.outstanding = static_cast<std::uint8_t>(q.outstanding + 2);
        nodes_.send(i, dialect_.common().type(lock),
            {.reference = id, .kind = request_kind::type, .sent = now});
        nodes_.send(i, dialect_.common().time_left(lock),
            {.reference = id, .kind = request_kind::time_left, .sent = now});
    }
    if (q.outstanding == 0)
        questions_.give_back(id);
}

void expiry_watch::lose_answer(core::slot_id watch)
{
    question* const q = questions_.find(watch);
    if (q != nullptr && --q->outstanding == 0)
        questions_.give_back(watch);
}

std::optional<core::backend_event> expiry_watch::on_reply(
    std::size_t node, const request& r, reply answer, time_point now)
{
    question* const q = questions_.find(r.reference);
    if (q == nullptr)
        return std::nullopt;
    const resp::value& v = answer.front();
    if (r.kind == request_kind::type) {
        const bool told = v.kind == resp::value_kind::simple_string;
        if (told && v.text != "string" && v.text != "none")
            ++q->conflicts;
        lose_answer(r.reference);
        return std::nullopt;
    }
    ++q->answers;
    constexpr std::int64_t endless = -1;
    if (v.kind == resp::value_kind::integer)
        nodes_.note_end(node, q->lock, v.integer != endless);
    if (v.kind == resp::value_kind::integer && v.integer != endless)
        q->free_at[node] =
            core::later(now, std::chrono::milliseconds(std::max<std::int64_t>(v.integer, 0)));
    if (q->answers < majority(nodes_.size())) {
        lose_answer(r.reference);
        return std::nullopt;
    }

    auto ends = q->free_at;
    const core::time_point free_at =
        majority_value(std::span(ends.data(), nodes_.size()), nodes_.size(), std::less<>());
    const bool conflict = q->conflicts >= blocking(nodes_.size());
    const std::uint64_t tag = q->tag;
    questions_.give_back(r.reference);
    if (!conflict && free_at == core::never)
        return std::nullopt;
    return core::backend_event{.kind = core::event_kind::free_hint,
        .reason = conflict ? errc::key_conflict : errc{},
        .tag = tag,
        .free_at = free_at};
}

} // namespace holdfast::redis
