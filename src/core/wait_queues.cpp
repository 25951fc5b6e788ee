#include "core/wait_queues.hpp"

namespace holdfast::core {

slot_id wait_queues::open(std::string_view resource)
{
    const auto found = by_name_.find(resource);
    if (found != by_name_.end())
        return found->second;

    const slot_id id = queues_.take();
    wait_queue& q = queues_[id];
    q.resource.assign(resource);
    q.first = q.last = q.asking = q.holder = 0;
    q.waits = 0;
    q.in_turn = false;
    q.place = 0;
    q.failures = 0;
    q.last_error = errc{};
    q.retry_at = long_ago;
    q.turns = local_turns();
    by_name_.emplace(q.resource, id);
    return id;
}

void wait_queues::close_if_unused(slot_id queue)
{
    const wait_queue& q = queues_[queue];
    if (!q.unused())
        return;
    by_name_.erase(std::string_view(q.resource));
    queues_.give_back(queue);
}

const wait_queue* wait_queues::find(std::string_view resource) const noexcept
{
    const auto found = by_name_.find(resource);
    return found != by_name_.end() ? queues_.find(found->second) : nullptr;
}

bool wait_queues::holds(std::string_view resource) const noexcept
{
    const wait_queue* const q = find(resource);
    return q != nullptr && q->holder != 0;
}

std::uint64_t wait_queues::take_first(slot_id queue, slot_id lease)
{
    wait_queue& q = queues_[queue];
    q.holder = lease;
    const std::uint64_t tag = waits_[q.first].tag;
    remove(q.first);
    return tag;
}

slot_id wait_queues::append(slot_id queue, const wait& w)
{
    const slot_id id = waits_.take();
    wait_queue& q = queues_[queue];
    wait& added = waits_[id];
    added = w;
    added.queue = queue;
    added.before = q.last;
    added.behind = 0;
    if (q.last != 0)
        waits_[q.last].behind = id;
    else
        q.first = id;
    q.last = id;
    ++q.waits;
    failing_fast_ += added.fails_fast() ? 1u : 0u;
    ends_.set(slot_index(id), w.ends);
    return id;
}

void wait_queues::remove(slot_id id)
{
    const wait& w = waits_[id];
    wait_queue& q = queues_[w.queue];
    (w.before != 0 ? waits_[w.before].behind : q.first) = w.behind;
    (w.behind != 0 ? waits_[w.behind].before : q.last) = w.before;
    --q.waits;
    failing_fast_ -= w.fails_fast() ? 1u : 0u;
    ends_.erase(slot_index(id));
    waits_.give_back(id);
}

} // namespace holdfast::core
