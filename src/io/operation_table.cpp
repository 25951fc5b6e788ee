#include "io/operation_table.hpp"

namespace holdfast::io {

core::slot_id operation_table::add(std::unique_ptr<operation> op)
{
    const core::slot_id id = under_way_.take();
    op->id = id;
    if (waits_at_lease(*op))
        list_at_lease(*op);
    under_way_[id] = std::move(op);
    return id;
}

operation* operation_table::find(core::slot_id id) noexcept
{
    std::unique_ptr<operation>* const found = under_way_.find(id);
    return found != nullptr ? found->get() : nullptr;
}

operation* operation_table::find(core::slot_id id, operation_kind kind) noexcept
{
    operation* const found = find(id);
    return found != nullptr && found->kind == kind ? found : nullptr;
}

bool operation_table::waits_at_lease(const operation& op) noexcept
{
    return op.kind == operation_kind::lost || op.kind == operation_kind::extend;
}

void operation_table::list_at_lease(operation& op)
{
    const auto index = core::slot_index(op.about);
    if (index >= at_lease_.size())
        at_lease_.resize(index + std::size_t(1), nullptr);
    op.next = at_lease_[index];
    if (op.next != nullptr)
        op.next->previous = &op;
    at_lease_[index] = &op;
}

void operation_table::unlist(operation& op) noexcept
{
    if (op.next != nullptr)
        op.next->previous = op.previous;
    if (op.previous != nullptr)
        op.previous->next = op.next;
    else
        at_lease_[core::slot_index(op.about)] = op.next;
}

void operation_table::finish(operation& op, error_code ec)
{
    if (waits_at_lease(op))
        unlist(op);
    op.set_error(ec);
    const core::slot_id id = op.id;
    operation_queue& queue = queue_of(op, ec);
    if (&queue == &closed_)
        closed_after_.push({finished_.pushed(), refused_.pushed()});
    queue.push(std::move(under_way_[id]));
    under_way_.give_back(id);
    lag_.finished();
}

operation_queue& operation_table::queue_of(const operation& op, const error_code& ec) noexcept
{
    if (op.kind == operation_kind::drain || op.kind == operation_kind::close)
        return closed_;
    return op.kind == operation_kind::acquire && ec ? refused_ : finished_;
}

bool operation_table::closed_is_next() const noexcept
{
    if (closed_.empty())
        return false;
    const position& after = closed_after_.front();
    return finished_.popped() >= after.finished && refused_.popped() >= after.refused;
}

std::unique_ptr<operation> operation_table::next_finished() noexcept
{
    lag_.delivered();
    if (closed_is_next()) {
        closed_after_.pop();
        return closed_.pop();
    }
    refused_is_next_ = !refused_.empty() && (refused_is_next_ || finished_.empty());
    operation_queue& next = refused_is_next_ ? refused_ : finished_;
    refused_is_next_ = !refused_is_next_;
    return next.pop();
}

void operation_table::finish_at_lease(core::slot_id lease, bool only_extensions, error_code ec)
{
    const auto index = core::slot_index(lease);
    operation* op = index < at_lease_.size() ? at_lease_[index] : nullptr;
    while (op != nullptr) {
        operation& each = *std::exchange(op, op->next);
        if (each.about == lease && (!only_extensions || each.kind == operation_kind::extend))
            finish(each, ec);
    }
}

void operation_table::finish_all(operation_kind kind, error_code ec)
{
    for_each(kind, [&](operation& op) { finish(op, ec); });
}

std::vector<std::unique_ptr<operation>> operation_table::take_all()
{
    std::vector<std::unique_ptr<operation>> all;
    while (has_finished())
        all.push_back(next_finished());
    for (std::uint32_t i = 0; i < under_way_.capacity(); ++i) {
        const core::slot_id id = under_way_.id_at(i);
        if (id == 0)
            continue;
        all.push_back(std::move(under_way_[id]));
        under_way_.give_back(id);
    }
    at_lease_.clear();
    return all;
}

} // namespace holdfast::io
