#include "redis/node/node_session.hpp"

#include <cassert>
#include <utility>

namespace holdfast::redis {

namespace {

// A node that leaves a request unanswered for so long is not asked for its vote until it answers.
constexpr core::duration congestion_after = std::chrono::seconds(1);

constexpr std::string_view asking = "*1\r\n$6\r\nASKING\r\n";

} // namespace

node_session::node_session(std::size_t node, node_settings settings, session_owner& owner,
    core::wake_time& wakes, std::uint64_t jitter_seed)
    : node_(node),
      owner_(owner),
      wakes_(wakes),
      connection_(std::move(settings), *this, wakes, jitter_seed),
      watch_(connection_.settings().silence_timeout)
{}

bool node_session::congested(core::time_point now) const noexcept
{
    const node_settings& settings = connection_.settings();
    if (requests_.size() >= settings.max_requests ||
        connection_.output().size() >= settings.max_bytes)
        return true;
    return !answers_within(congestion_after, now);
}

bool node_session::answers_within(core::duration limit, core::time_point now) const noexcept
{
    return requests_.empty() || watch_.silence(requests_.oldest().sent, now) <= limit;
}

void node_session::send(std::string_view bytes, const request& r)
{
    assert(now() == reachability::ready);
    if (connection_.settings().asking) {
        connection_.send(asking);
        requests_.push({.kind = request_kind::asking, .sent = r.sent}, asking.size());
    }
    connection_.send(bytes);
    requests_.push(r, bytes.size());
    if (watch_.on_sent(r.sent))
        wakes_.note(watch_.look_at());
    health_.on_sent();
}

// The request keeps its place.
void node_session::count_timeout()
{
    health_.on_timeout();
}

void node_session::fail(errc code, std::string text, core::time_point now)
{
    if (connection_.schedule().is_open())
        connection_.give_up({code, std::move(text)}, now);
}

node_stats node_session::stats() const
{
    using phase = connection_schedule::phase;
    const phase current = connection_.schedule().now();
    node_stats s = health_.stats();
    s.address = name();
    // A member of a cluster is known by its address only.
    s.name = connection_.settings().in_cluster ? name() : connection_.settings().name;
    s.connected = current == phase::ready;
    if (!s.last_error && current == phase::searching)
        s.reason = "no sentinel has named the primary yet";
    else if (!s.last_error && (current == phase::idle || current == phase::opening))
        s.reason = "not connected yet";
    else if (!s.last_error && current == phase::greeting)
        s.reason = "no answer to the greeting yet";
    return s;
}

void node_session::wake(core::time_point now)
{
    if (watch_.look_at() <= now) {
        switch (watch_.look(requests_.oldest().sent, now)) {
        case answer_watch::finding::fine:
            break;
        case answer_watch::finding::silent:
            return connection_.give_up(
                {errc::no_reply, "silent for too long, connection closed"}, now);
        case answer_watch::finding::in_doubt:
            send(answer_watch::question(), {.kind = request_kind::order, .sent = now});
            break;
        }
    }
    connection_.wake(now);
}

void node_session::shut(core::time_point now)
{
    const failure before = health_.worst();
    if (connection_.shut(now))
        health_.on_shut(before);
}

void node_session::on_ready(core::time_point now)
{
    watch_.start(now);
    health_.on_ready(server().run_id);
    owner_.on_ready(node_, now);
}

void node_session::on_written(std::size_t n, core::time_point now)
{
    requests_.wrote(n);
    while (const request* const late = requests_.stamp(now)) {
        if (!is_of_session(late->kind))
            owner_.on_sent_late(node_, *late, now);
    }
}

void node_session::on_reply(reply answer, core::time_point now)
{
    if (!requests_.any_written())
        return connection_.give_up({errc::protocol_error, "a reply without a request"}, now);
    if (!watch_.in_order(requests_.oldest().kind, answer))
        return connection_.give_up({errc::protocol_error, "it answers requests out of order"}, now);
    const request r = requests_.answered();
    watch_.on_answered(r.kind, !requests_.empty(), now);
    if (is_of_session(r.kind))
        return; // where ASKING is refused, so is the request behind it
    health_.on_answered(now - r.sent);
    if (is_no_script(answer)) {
        if (!r.by_text && owner_.say_again(node_, r, now))
            return;
    } else if (answer.front().kind == resp::value_kind::error) {
        const node_settings& settings = connection_.settings();
        if (settings.in_cluster && is_redirection(answer.front().text)) {
            health_.on_redirected(); // the node is fine
            if (const auto where = read_redirection(answer.front().text, connection_.target().host))
                owner_.on_redirected(node_, r, *where);
            return owner_.on_reply(node_, r, answer, now);
        }
        failure why = failure_of(answer.front().text);
        if ((settings.sentinels || settings.in_cluster) && is_of_replica(answer.front().text)) {
            owner_.on_orphaned(node_, r, now); // it has not refused: another node will be asked
            return connection_.give_up({errc::node_error, std::move(why.text)}, now);
        }
        if (!is_for_people(r.kind))
            health_.on_refused(r.kind, why);
        owner_.on_reply(node_, r, answer, now);
        if (disqualifies(static_cast<errc>(why.code.value())))
            connection_.give_up(std::move(why), now);
        return;
    } else {
        health_.on_done(r.kind);
    }
    owner_.on_reply(node_, r, answer, now);
}

void node_session::on_lost(failure why, core::time_point now)
{
    health_.on_lost(std::move(why));
    watch_.stop();
    while (!requests_.empty()) {
        const request r = requests_.lose();
        if (!is_of_session(r.kind))
            owner_.on_orphaned(node_, r, now);
    }
    owner_.on_down(node_, now);
}

} // namespace holdfast::redis
