#include "redis/dialect/fenced_dialect.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"
#include "resp/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace holdfast::redis {

using core::time_point;

namespace {

using namespace std::chrono_literals;

// How often the clock of a node is asked for, while locks are acquired and while none are; and
// while locks are wanted and no answer was exact enough.
constexpr core::duration busy_interval = 1s, idle_interval = 30s, unknown_interval = 50ms;

// A node that could not be opened is tried again after this, if a lock is wanted.
constexpr core::duration open_interval = 500ms;

// A resource that changes hands at once was granted by another client's clock just before.
constexpr std::uint64_t margin_of_turn = ballots_in_ms;

// A register that is further ahead than this, and than a quarantine, is a matter for a person.
constexpr core::duration shortest_far = 1min;

// Resources that share a number use larger ballots than they need.
constexpr std::size_t remembered = 4096;

std::int64_t microseconds_in(reply answer)
{
    std::int64_t seconds = 0, microseconds = 0;
    if (answer.size() != 3 || !resp::parse_integer(answer[1].text, seconds) ||
        !resp::parse_integer(answer[2].text, microseconds) || seconds < 0 ||
        seconds > std::numeric_limits<std::int64_t>::max() / 2'000'000)
        return -1;
    return seconds * 1'000'000 + microseconds;
}

} // namespace

fenced_dialect::fenced_dialect(std::string channel, const fence_settings& settings,
    node_pool& nodes, std::string_view key_prefix)
    : dialect(key_names(fenced_calls::names(key_prefix)), std::move(channel)),
      settings_(settings),
      nodes_(nodes),
      calls_(settings, key_prefix),
      clock_(settings.ahead),
      used_(remembered)
{}

std::optional<std::uint64_t> fenced_dialect::token_of(claim& c)
{
    c.round.ballots().publish();
    const std::uint64_t ballot = c.round.ballots().published();
    std::uint64_t& used = used_[c.hash % remembered];
    used = std::max(used, ballot); // it may be another client's
    return ballot * tokens_in_ballot + c.round.fence().passed;
}

// The quarantine of a restarted node begins now, not when the first lock is wanted. And a client
// whose settings differ learns which they are before its first attempt fails because of that.
void fenced_dialect::on_ready(std::size_t node, time_point now)
{
    const server_info& server = nodes_[node].server();
    members_[node] = {};
    nodes_.set_quarantine(node, core::long_ago);
    note_clock(node, server.clock_us, server.clock_asked, now);
    open(node, now);
    ask_for_record(node, now);
    sample_clock(node, now); // the greeting took long
    due_ = std::min(due_, now + idle_interval);
}

void fenced_dialect::on_down(std::size_t node) noexcept
{
    members_[node] = {};
    clock_.forget(node);
}

void fenced_dialect::wake(time_point now)
{
    if (now < due_)
        return;
    due_ = core::never;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_.is_ready(i))
            continue;
        sample_clock(i, now);
        due_ = std::min(due_, now + idle_interval);
        if (!members_[i].quarantined)
            continue;
        if (nodes_.in_quarantine(i, now))
            due_ = std::min(due_, nodes_.quarantine_end(i));
        else
            end_quarantine(i);
    }
}

void fenced_dialect::end_quarantine(std::size_t node)
{
    members_[node].quarantined = false;
    nodes_[node].health().note_trouble({});
}

void fenced_dialect::open(std::size_t node, time_point now)
{
    members_[node].opening = true;
    members_[node].asked = now;
    const std::int64_t clock = clock_.is_known() ? clock_.ms(now) : 0;
    nodes_.send(node, calls_.open(nodes_[node].server().run_id, clock),
        {.kind = request_kind::open, .sent = now});
}

void fenced_dialect::ask_for_record(std::size_t node, time_point now)
{
    nodes_.send(node, calls_.read_record(), {.kind = request_kind::record, .sent = now});
}

void fenced_dialect::sample_clock(std::size_t node, time_point now)
{
    members_[node].clock_asked = now;
    nodes_.send(node, calls_.time(), {.kind = request_kind::time, .sent = now});
}

void fenced_dialect::note_clock(
    std::size_t node, std::int64_t us, time_point asked, time_point heard)
{
    if (us >= 0 && clock_.note(node, us, asked, heard))
        nodes_[node].health().on_clock_jump();
}

void fenced_dialect::note_trouble(
    std::size_t node, claim* c, fence_trouble trouble, std::int64_t left, std::string_view key)
{
    if (c != nullptr)
        c->round.fence().troubles[node] = trouble;
    nodes_[node].health().note_trouble(failure_of(trouble, left, key));
}

void fenced_dialect::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    node_health& health = nodes_[node].health();
    switch (r.kind) {
    case request_kind::open:
        return on_opened(node, answer, now);
    case request_kind::time:
        return note_clock(node, microseconds_in(answer), r.sent, now);
    default: // the record
        if (members_[node].trouble == fence_trouble::settings)
            health.note_trouble(disagreement(settings_, answer.front().text));
    }
}

void fenced_dialect::on_opened(std::size_t node, reply answer, time_point now)
{
    member& m = members_[node];
    m.opening = m.opened = false;
    m.trouble = fence_trouble::none;
    const auto is_integer = [](const resp::value& v) {
        return v.kind == resp::value_kind::integer;
    };
    if (answer.front().kind == resp::value_kind::error) {
        m.why = trouble_in(answer);
        if (m.why == errc::key_conflict)
            m.trouble = fence_trouble::conflict;
    } else if (answer.size() != 3 || !is_integer(answer[1]) || !is_integer(answer[2])) {
        m.why = errc::protocol_error;
        return nodes_.fail(node, now);
    } else if (answer[1].integer == open_status::disagreed) {
        m.trouble = fence_trouble::settings;
    } else if (answer[1].integer < 0) {
        m.trouble = fence_trouble::conflict;
    } else {
        constexpr std::int64_t longest = std::int64_t{3650} * 24 * 3600 * 1000;
        const std::chrono::milliseconds left(std::min(answer[1].integer, longest));
        m.opened = true;
        m.why = {};
        if (left == 0ms)
            return end_quarantine(node);
        m.quarantined = true;
        nodes_.set_quarantine(node, core::later(now, left));
        due_ = std::min(due_, nodes_.quarantine_end(node));
        return note_trouble(node, nullptr, fence_trouble::quarantine, left.count(), {});
    }
    if (m.trouble == fence_trouble::none)
        return; // the session tells of the error
    m.why = meaning_of(m.trouble);
    if (m.trouble == fence_trouble::settings) {
        nodes_[node].health().note_trouble(disagreement(settings_, {}));
        ask_for_record(node, now);
    } else {
        note_trouble(node, nullptr, m.trouble, 0, calls_.record());
    }
}

bool fenced_dialect::in_quarantine(std::size_t node, claim& c, time_point now)
{
    if (!nodes_.in_quarantine(node, now))
        return false;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(nodes_.quarantine_end(node) - now);
    note_trouble(node, &c, fence_trouble::quarantine, left.count(), {});
    return true;
}

errc fenced_dialect::refuses(std::size_t node, claim& c, time_point now)
{
    if (in_quarantine(node, c, now))
        return errc::fencing_unavailable;
    const member& m = members_[node];
    if (m.opened || m.opening)
        return {};
    c.round.fence().troubles[node] = m.trouble;
    if (now - m.asked >= open_interval)
        open(node, now);
    return m.why != errc{} ? m.why : errc::fencing_unavailable;
}

errc fenced_dialect::refuses_without_ballot(std::size_t node, claim& c, time_point now)
{
    constexpr fence_trouble why = fence_trouble::ahead;
    if (!clock_.is_known()) {
        c.round.fence().troubles[node] = why;
        nodes_[node].health().note_trouble({meaning_of(why),
            "its clock is not known: it shows no usable time, or takes too long to answer"});
    } else {
        const auto next = static_cast<std::int64_t>(used_[c.hash % remembered] / ballots_in_ms);
        const std::int64_t left = next + 1 - clock_.ms(now) - in_ms(settings_.ahead);
        note_trouble(node, &c, why, std::max<std::int64_t>(left, 1), calls_.registers());
    }
    return meaning_of(why);
}

// Ballots follow the clocks of the nodes. They are never further ahead than is permitted: a node
// that has lost its registers relies on that.
bool fenced_dialect::choose_ballot(claim& c, time_point now)
{
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const core::duration interval = clock_.knows(i) ? busy_interval : unknown_interval;
        if (nodes_.is_ready(i) && now - members_[i].clock_asked >= interval)
            sample_clock(i, now);
    }
    if (!clock_.is_known())
        return false;
    ballot_round& round = c.round.ballots();
    std::uint64_t& used = used_[c.hash % remembered];
    const std::uint64_t clock = clock_.ballot(now);
    const auto ahead = static_cast<std::uint64_t>(in_ms(settings_.ahead) * ballots_in_ms);
    const std::uint64_t k = std::max({clock + (c.queue.handed_over ? margin_of_turn : 0), used + 1,
        round.ballot() + 1, c.round.fence().largest + 1});
    if (k > clock + ahead)
        return false;
    used = k;
    round.propose(k);
    return true;
}

dialect::ballot_reply fenced_dialect::read_ballot(
    std::size_t node, reply answer, claim* c, time_point now)
{
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::error)
        return {.why = trouble_in(answer)};
    if (v.kind != resp::value_kind::integer)
        return {.broken = true};
    if (c == nullptr)
        return {};
    if (const errc why = refuses(node, *c, now); why != errc{})
        return {.why = why};
    if (v.integer != 1)
        return {.said = ballot_answer::refused};
    nodes_[node].health().note_trouble({});
    return {.said = ballot_answer::accepted};
}

// Clocks that differ, and a quarantine, pass sooner.
bool fenced_dialect::is_far(std::int64_t over_ms) const noexcept
{
    return over_ms > in_ms(std::max<core::duration>(settings_.pause(), shortest_far));
}

errc fenced_dialect::read_largest(std::size_t node, reply answer, claim* c, time_point now)
{
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::error)
        return trouble_in(answer);
    if (v.kind == resp::value_kind::null) { // it has lost its registers
        if (c != nullptr)
            c->round.fence().troubles[node] = fence_trouble::quarantine;
        if (!members_[node].opening)
            open(node, now);
        return errc::fencing_unavailable;
    }
    if (c == nullptr)
        return {};
    double largest = 0;
    const auto [end, error] =
        std::from_chars(v.text.data(), v.text.data() + v.text.size(), largest);
    if (error != std::errc() || !(largest >= 0 && largest < 9e15))
        return errc::fencing_unavailable;
    const auto ballot = static_cast<std::uint64_t>(std::ceil(largest));
    const std::int64_t over = clock_.is_known()
                                  ? static_cast<std::int64_t>(ballot / ballots_in_ms) + 1 -
                                        clock_.ms(now) - in_ms(settings_.ahead)
                                  : 1;
    if (over > 0) {
        note_trouble(node, c, is_far(over) ? fence_trouble::far_ahead : fence_trouble::ahead, over,
            calls_.registers());
        return errc::fencing_unavailable;
    }
    c->round.fence().largest = std::max(c->round.fence().largest, ballot);
    return {};
}

} // namespace holdfast::redis
