#include "etcd/watches.hpp"

#include <utility>

namespace holdfast::etcd_store {

void watches::watch(const std::string& queue, core::slot_id claim, std::int64_t start, channel& by)
{
    const auto [found, is_new] = queues_.try_emplace(queue);
    found->second.claim = claim;
    if (!is_new)
        return;
    found->second.id = ++last_id_; // 0 would let the server choose
    names_.emplace(last_id_, queue);
    send(wire::watch_deletions(wire::keys_with(queue), start, last_id_), by);
}

void watches::send(const std::string& request, channel& by)
{
    if (call_ == 0)
        call_ = by.begin(wire::watch_path, request, true, true);
    else
        by.calls().send(call_, request);
}

void watches::report_puts(
    const std::string& queue, core::slot_id claim, std::int64_t start, channel& by)
{
    if (!reports_.emplace(claim, last_id_ + 1).second)
        return;
    reporting_.emplace(++last_id_, claim);
    send(wire::watch_puts(wire::keys_with(queue), start, last_id_), by);
}

void watches::end_report(core::slot_id claim, channel* by)
{
    const auto found = reports_.find(claim);
    if (found == reports_.end())
        return;
    if (by != nullptr && call_ != 0)
        by->calls().send(call_, wire::cancel_watch(found->second));
    reporting_.erase(found->second);
    reports_.erase(found);
}

core::slot_id watches::reported_to(const wire::watch_reply& reply) const
{
    const auto found = reporting_.find(reply.watch);
    return found == reporting_.end() ? 0 : found->second;
}

void watches::join(const std::string& queue, core::slot_id claim)
{
    if (const auto found = queues_.find(queue); found != queues_.end())
        found->second.claim = claim;
}

void watches::leave(const std::string& queue, core::slot_id claim, core::time_point now)
{
    const auto found = queues_.find(queue);
    if (found == queues_.end() || found->second.claim != claim)
        return;
    found->second.claim = 0;
    found->second.left = now;
    unused_.push_back({now + kept_for, queue});
}

void watches::ended()
{
    call_ = 0;
    queues_.clear();
    names_.clear();
    unused_.clear();
    reports_.clear();
    reporting_.clear();
}

core::slot_id watches::claim_of(const wire::watch_reply& reply) const
{
    const auto name = names_.find(reply.watch);
    if (name == names_.end())
        return 0;
    const auto found = queues_.find(name->second);
    return found == queues_.end() ? 0 : found->second.claim;
}

bool watches::canceled(const wire::watch_reply& reply)
{
    const auto name = names_.find(reply.watch);
    if (name == names_.end())
        return false;
    queues_.erase(name->second);
    names_.erase(name);
    return true;
}

void watches::wake(core::time_point now, channel* by)
{
    while (!unused_.empty() && unused_.front().at <= now) {
        const departure gone = std::move(unused_.front());
        unused_.pop_front();
        const auto found = queues_.find(gone.queue);
        if (found == queues_.end() || found->second.claim != 0 ||
            found->second.left + kept_for > gone.at)
            continue; // it has been needed again
        if (by != nullptr && call_ != 0)
            by->calls().send(call_, wire::cancel_watch(found->second.id));
        names_.erase(found->second.id);
        queues_.erase(found);
    }
}

} // namespace holdfast::etcd_store
