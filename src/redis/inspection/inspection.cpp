#include "redis/inspection/inspection.hpp"

#include "redis/quorum/majority.hpp"

#include <holdfast/resource.hpp>

#include <utility>

namespace holdfast::redis {

using core::inspection_task;
using core::slot_id;
using core::time_point;
using stage = inquiry::stage;
using resp::value_kind;

namespace {

using namespace std::chrono_literals;

constexpr core::duration patience = 2s;        // for a stage; of a list, for each step
constexpr core::duration longest_list = 10min; // for a whole list
constexpr core::duration longest_pause = 100ms;

} // namespace

inspection::inspection(node_pool& nodes, key_names& names, client_settings settings)
    : nodes_(nodes),
      calls_(names, settings),
      record_(nodes, std::move(settings))
{}

void inspection::introduce(const core::client_identity& self, time_point now)
{
    record_.introduce(self, now);
    arm();
}

void inspection::withdraw(time_point now)
{
    record_.withdraw(now);
    arm();
}

void inspection::begin(const core::inspection_request& request, time_point now)
{
    const slot_id id = inquiries_.take();
    inquiry& q = inquiries_[id];
    q = inquiry{};
    q.task = request.task;
    q.tag = request.tag;
    q.name = request.name;
    q.wall = request.wall;
    q.fenced = calls_.is_fenced();
    q.lock_prefix = calls_.lock_prefix();
    q.parts.resize(nodes_.size());
    if (q.task == inspection_task::list)
        q.ends = now + longest_list;
    enter_stage(id, stage::looking, now);
    arm();
}

void inspection::forget(std::uint64_t tag)
{
    for_each_inquiry([&](slot_id id, inquiry& q) {
        if (q.tag != tag)
            return;
        q = inquiry{};
        inquiries_.give_back(id);
    });
    arm();
}

std::optional<core::inspection_result> inspection::next_result()
{
    if (results_.empty())
        return std::nullopt;
    auto next = std::move(results_.front());
    results_.pop_front();
    return next;
}

template <class Visit>
void inspection::for_each_inquiry(const Visit& visit)
{
    for (std::uint32_t index = 0; index < inquiries_.capacity(); ++index) {
        const slot_id id = inquiries_.id_at(index);
        if (inquiry* const q = inquiries_.find(id))
            visit(id, *q);
    }
}

void inspection::enter_stage(slot_id id, stage next, time_point now)
{
    inquiry& q = inquiries_[id];
    q.now = next;
    q.stage_ends = now + patience;
    for (std::size_t i = 0; i < q.parts.size(); ++i) {
        if (q.asks(i) && (next == stage::looking || next == stage::naming || nodes_.is_ready(i)))
            ask(id, i, now);
    }
    go_on(id, now);
}

void inspection::go_on(slot_id id, time_point now)
{
    inquiry* const q = inquiries_.find(id);
    if (q == nullptr || !q->is_over())
        return;
    const bool takes = q->task == inspection_task::force_release;
    switch (q->now) {
    case stage::looking:
        for (std::size_t i = 0; i < q->parts.size(); ++i)
            q->parts[i].identity = nodes_[i].server().identity;
        if (takes && q->trouble() != errc{})
            return finish(id);
        q->collect_ids();
        return enter_stage(id, stage::naming, now);
    case stage::naming:
        if (!takes)
            return finish(id);
        return enter_stage(id, q->node_to_take_first() ? stage::taking_first : stage::taking, now);
    case stage::taking_first:
        if (q->forced.deleted != 0)
            return enter_stage(id, stage::taking, now);
        return finish(id);
    case stage::taking:
        return finish(id);
    }
}

void inspection::finish(slot_id id)
{
    inquiry& q = inquiries_[id];
    core::inspection_result result;
    result.tag = q.tag;
    switch (q.task) {
    case inspection_task::inspect:
        result.reason = q.trouble();
        result.found = q.report(nodes_);
        break;
    case inspection_task::list:
        result.reason = q.cut_off ? errc{} : q.trouble();
        result.found = q.list();
        break;
    case inspection_task::force_release:
        result.reason = q.trouble_of_release();
        if (const ownership whose = q.owner(); whose.having != 0) {
            q.forced.owner = q.named(whose);
            const bool it_was = whose.is_certain && !q.has_changed_hands();
            q.forced.told = q.forced.told && it_was;
            q.forced.owner->client_confirmed = q.forced.owner->client_confirmed && it_was;
        }
        result.found = std::move(q.forced);
        break;
    }
    results_.push_back(std::move(result));
    q = inquiry{};
    inquiries_.give_back(id);
}

void inspection::arm() noexcept
{
    due_ = core::never;
    for_each_inquiry([&](slot_id, const inquiry& q) {
        due_ = std::min(due_, q.ends);
        for (const part& each : q.parts)
            due_ = std::min(due_, each.due);
    });
}

// A part that has waited for its node keeps the end of that wait.
void inspection::ask(slot_id id, std::size_t node, time_point now)
{
    inquiry& q = inquiries_[id];
    part& p = q.parts[node];
    if (p.now != part::state::wanted)
        p.due = q.now == stage::looking ? now + patience : q.stage_ends;
    if (!nodes_.is_ready(node)) {
        if (q.now != stage::looking || nodes_[node].now() == reachability::down)
            return q.fail(node, nodes_[node].health().last_failure().code);
        p.now = part::state::wanted;
        return;
    }
    if (nodes_[node].congested(now))
        return q.fail(node, errc::no_reply);
    p.now = part::state::asked;
    p.asked_at = now;
    switch (q.now) {
    case stage::looking:
        if (q.task == inspection_task::list)
            return send(id, node, request_kind::scan, calls_.scan(q.name, p.cursor), now);
        return send(id, node, request_kind::view, calls_.view(q.name), now);
    case stage::naming:
        return send(id, node, request_kind::clients, calls_.clients(q.next_ids(node)), now);
    case stage::taking_first:
    case stage::taking:
        return send_taking(id, node, now);
    }
}

void inspection::send(
    slot_id id, std::size_t node, request_kind kind, std::string_view command, time_point now)
{
    nodes_.send(node, command, {.reference = id, .kind = kind, .sent = now});
}

// The holder is told first: it should stop before the next one begins.
void inspection::send_taking(slot_id id, std::size_t node, time_point now)
{
    inquiry& q = inquiries_[id];
    part& p = q.parts[node];
    const ownership whose = q.owner();
    const auto value = q.value_to_take(node, whose);
    if (!value) {
        p.end();
        return;
    }
    if (const auto channel = q.channel_of(whose); !channel.empty() && whose.held)
        send(id, node, request_kind::tell, calls_.tell(channel, whose.lease), now);
    send(id, node, request_kind::take, calls_.take(q.name, *value, q.hands_off(node)), now);
}

void inspection::on_ready(std::size_t node, time_point now)
{
    record_.on_ready(node, now);
    for_each_inquiry([&](slot_id id, inquiry& q) {
        if (q.parts[node].now != part::state::wanted)
            return;
        ask(id, node, now);
        go_on(id, now);
    });
    arm();
}

void inspection::on_down(std::size_t node, time_point now)
{
    for_each_inquiry([&](slot_id id, inquiry& q) {
        const auto state = q.parts[node].now;
        const bool waits = state == part::state::wanted || state == part::state::pausing;
        if (!waits || (state == part::state::wanted && nodes_[node].now() == reachability::soon))
            return;
        q.fail(node, nodes_[node].health().last_failure().code);
        go_on(id, now);
    });
    arm();
}

void inspection::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    switch (r.kind) {
    case request_kind::introduce:
    case request_kind::compare:
    case request_kind::prolong:
    case request_kind::withdraw:
        return record_.on_reply(node, r, answer, now);
    default:
        break;
    }
    const slot_id id = r.reference;
    inquiry* const q = inquiries_.find(id);
    if (q == nullptr)
        return;
    if (r.kind == request_kind::tell) {
        const resp::value& v = answer.front();
        q->forced.told = q->forced.told || (v.kind == value_kind::integer && v.integer > 0);
        return;
    }
    part& p = q->parts[node];
    if (!q->awaits(node, r.kind))
        return; // it comes too late
    p.end();
    bool right = true;
    switch (r.kind) {
    case request_kind::view:
        right = on_view(*q, node, answer);
        break;
    case request_kind::scan:
        right = on_scan(*q, node, answer, now);
        break;
    case request_kind::clients:
        right = on_clients(id, node, answer, now);
        break;
    default:
        right = on_taken(*q, node, answer);
        break;
    }
    if (!right)
        q->fail(node, errc::protocol_error);
    go_on(id, now);
    arm();
    if (!right)
        nodes_.fail(node, now);
}

bool inspection::on_view(inquiry& q, std::size_t node, reply answer)
{
    auto seen = read_view(answer);
    if (!seen)
        return false;
    part& p = q.parts[node];
    p.seen = std::move(*seen);
    p.answered = !p.seen.why;
    return true;
}

bool inspection::on_scan(inquiry& q, std::size_t node, reply answer, time_point now)
{
    auto step = read_scan(answer, resource::max_size + q.lock_prefix.size());
    if (!step)
        return false;
    part& p = q.parts[node];
    if (step->why) {
        q.fail(node, step->why);
        return true;
    }
    p.cursor = step->cursor;
    q.add(node, std::move(*step));
    if (p.cursor == "0" || q.cut_off) {
        p.answered = p.cursor == "0";
        return true;
    }
    p.now = part::state::pausing; // as long as the node has worked
    p.due = now + std::clamp<core::duration>(now - p.asked_at, core::duration(0), longest_pause);
    return true;
}

bool inspection::on_clients(slot_id id, std::size_t node, reply answer, time_point now)
{
    inquiry& q = inquiries_[id];
    part& p = q.parts[node];
    if (answer.front().kind == value_kind::error) // the user may not read records
        return true;
    const std::span<const std::uint32_t> asked = q.next_ids(node);
    if (answer.front().kind != value_kind::array || answer.size() != 1 + asked.size())
        return false;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (auto found = read_client(answer[1 + i].text))
            q.clients.add(asked[i], std::move(*found), majority(q.parts.size()));
    }
    p.next_client += asked.size();
    if (q.clients.confirmed() == q.ids.size()) {
        for (part& each : q.parts)
            each.end();
    } else if (p.next_client < q.ids.size()) {
        ask(id, node, now);
    }
    return true;
}

bool inspection::on_taken(inquiry& q, std::size_t node, reply answer)
{
    const resp::value& v = answer.front();
    part& p = q.parts[node];
    if (v.kind == value_kind::error) {
        p.seen.why = why_refused(v.text);
        return true;
    }
    if (v.kind != value_kind::integer)
        return false;
    p.took = true;
    q.forced.deleted += v.integer > 0 ? 1u : 0u;
    return true;
}

void inspection::lose_answer(std::size_t node, const request& r, time_point now)
{
    record_.lose_answer(r);
    inquiry* const q = r.kind >= request_kind::view ? inquiries_.find(r.reference) : nullptr;
    if (q == nullptr || !q->awaits(node, r.kind))
        return;
    q->fail(node, nodes_[node].health().last_failure().code);
    go_on(r.reference, now);
    arm();
}

void inspection::wake(time_point now)
{
    if (now < wake_at())
        return;
    record_.wake(now);
    for_each_inquiry([&](slot_id id, inquiry& q) {
        if (q.ends <= now)
            q.cut_off = true;
        for (std::size_t i = 0; i < q.parts.size(); ++i) {
            if (q.parts[i].now == part::state::over)
                continue;
            if (q.parts[i].due <= now && q.parts[i].now == part::state::pausing && !q.cut_off)
                ask(id, i, now);
            else if (q.parts[i].due <= now || q.ends <= now)
                q.fail(i, errc::no_reply);
        }
        if (q.ends <= now)
            q.ends = core::never;
        go_on(id, now);
    });
    arm();
}

} // namespace holdfast::redis
