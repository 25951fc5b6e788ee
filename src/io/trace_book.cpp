#include "io/trace_book.hpp"

#include <utility>

namespace holdfast::io {

using mark_kind = core::trace_mark::step;

void trace_book::begin(std::uint64_t wait, std::shared_ptr<trace_span> span)
{
    acquires_[wait].span = std::move(span);
}

void trace_book::follow(const core::trace_mark& mark, const trace_time& time, std::string node)
{
    const error_code reason = mark.reason == errc{} ? error_code() : make_error_code(mark.reason);
    switch (mark.kind) {
    case mark_kind::attempt:
        attempts_[mark.claim] = mark.wait;
        return add(mark.claim, {"attempt", time, {}, {}});
    case mark_kind::queued:
        return add(mark.claim, {"queued", time, {}, {}});
    case mark_kind::vote:
        return add(mark.claim, {"vote", time, std::move(node), reason});
    case mark_kind::decided:
        add(mark.claim, {"decided", time, {}, reason});
        attempts_.erase(mark.claim);
        return;
    case mark_kind::given_up:
        attempts_.erase(mark.claim);
        return;
    case mark_kind::granted:
        return grant(mark, time);
    case mark_kind::failed:
        return fail(mark.wait, reason, time);
    case mark_kind::over:
        if (auto ended = holds_.extract(mark.claim); !ended.empty())
            calls_->add(
                [held = std::move(ended.mapped()), reason, time] {
                    if (held->span != nullptr)
                        std::exchange(held->span, nullptr)->end(reason, time);
                },
                outbox::kind::end_of_span);
        return;
    }
}

void trace_book::fail(std::uint64_t wait, error_code why, const trace_time& time)
{
    auto ended = acquires_.extract(wait);
    if (ended.empty())
        return;
    calls_->add(
        [a = std::move(ended.mapped()), why, time] {
            a.tell();
            a.span->end(why, time);
        },
        outbox::kind::end_of_span);
}

void trace_book::grant(const core::trace_mark& mark, const trace_time& time)
{
    auto ended = acquires_.extract(mark.wait);
    if (ended.empty())
        return;
    auto held = std::make_shared<hold>();
    holds_[mark.claim] = held;
    calls_->add(
        [a = std::move(ended.mapped()), held, fence = mark.fence, time] {
            a.tell();
            held->span = a.span->begin_hold(fence, time);
            a.span->end({}, time);
        },
        outbox::kind::end_of_span);
}

// Votes may still come when the attempt has been decided, or has been given up.
void trace_book::add(core::slot_id claim, step s)
{
    const auto attempt = attempts_.find(claim);
    if (attempt == attempts_.end())
        return;
    if (const auto found = acquires_.find(attempt->second); found != acquires_.end())
        found->second.add(std::move(s));
}

void trace_book::acquire::add(step s)
{
    if (first.size() < most)
        return first.push_back(std::move(s));
    if (last.size() < most)
        return last.push_back(std::move(s));
    step& oldest = last[omitted++ % most];
    omitted_until = oldest.time;
    oldest = std::move(s);
}

void trace_book::acquire::tell() const
{
    const auto add = [this](const step& s) {
        span->add({.name = s.name, .time = s.time, .node = s.node, .error = s.error});
    };
    for (const step& s : first)
        add(s);
    if (omitted > 0)
        span->add({.name = "omitted", .time = omitted_until});
    for (std::size_t i = 0; i < last.size(); ++i)
        add(last[(omitted + i) % last.size()]);
}

std::vector<std::shared_ptr<void>> trace_book::clear() noexcept
{
    std::vector<std::shared_ptr<void>> all;
    for (auto& [wait, a] : acquires_)
        all.push_back(std::move(a.span));
    for (auto& [lease, held] : holds_)
        all.push_back(std::move(held));
    acquires_.clear();
    attempts_.clear();
    holds_.clear();
    return all;
}

} // namespace holdfast::io
