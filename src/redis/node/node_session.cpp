#include "redis/node/node_session.hpp"

#include "redis/quorum/rendezvous.hpp"
#include "resp/command.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::size_t read_size = 16 * 1024;

// The most output memory that is kept when everything has been sent.
constexpr std::size_t most_kept = 256 * 1024;

// A node that leaves a request unanswered for so long is not asked for its vote until it answers.
constexpr core::duration congestion_after = std::chrono::seconds(1);

// If a request is sent so much later than it was queued, its timeouts start again.
constexpr core::duration late_after = std::chrono::milliseconds(1);

// A shorter connection counts as a failure, so that we do not reconnect in a tight loop.
constexpr core::duration stable_after = std::chrono::milliseconds(100);

// A pause after a failure that a person must fix.
constexpr core::duration hopeless_pause = std::chrono::seconds(1);

} // namespace

node_session::node_session(
    std::size_t node, node_settings settings, session_owner& owner, std::uint64_t jitter_seed)
    : node_(node),
      settings_(std::move(settings)),
      owner_(owner),
      jitter_(jitter_seed)
{}

node_session::reachability node_session::now() const noexcept
{
    if (state_ == state::ready)
        return reachability::ready;
    const bool trying = state_ == state::connecting || state_ == state::greeting;
    return trying && hopeful_ ? reachability::soon : reachability::down;
}

bool node_session::congested(core::time_point now) const noexcept
{
    if (requests_.size() >= settings_.max_requests ||
        out_.size() - out_begin_ >= settings_.max_bytes)
        return true;
    return !answers_within(congestion_after, now);
}

bool node_session::answers_within(core::duration limit, core::time_point now) const noexcept
{
    return requests_.empty() || now - std::max(requests_.front().sent, last_answered_) <= limit;
}

void node_session::send(std::string_view bytes, request r)
{
    assert(state_ == state::ready);
    if (out_begin_ == out_.size()) {
        out_.clear();
        out_begin_ = 0;
    }
    out_.append(bytes);
    r.bytes = static_cast<std::uint32_t>(bytes.size());
    if (look_at_ == core::never) // it may be too early: answers postpone the deadlines
        look_at_ = r.sent + settings_.silence_timeout;
    requests_.push(r);
    ++commands_;
}

void node_session::fail(errc code, std::string text, core::time_point now)
{
    if (state_ == state::ready || state_ == state::greeting)
        begin_closing({code, std::move(text)}, now);
}

void node_session::count_timeout()
{
    ++timeouts_;
    if (!failure_.code)
        failure_ = {errc::no_reply, "no answer in time"};
}

node_stats node_session::stats() const
{
    const failure& why = failure_.code ? failure_ : trouble_;
    std::string reason = why.text;
    if (!failure_.code && state_ == state::connecting)
        reason = "not connected yet";
    else if (!failure_.code && state_ == state::greeting)
        reason = "no answer to the greeting yet";
    return {.address = settings_.name,
        .connected = state_ == state::ready,
        .last_error = why.code,
        .reason = std::move(reason),
        .commands = commands_,
        .timeouts = timeouts_,
        .connects = connects_};
}

core::time_point node_session::silence_ends() const noexcept
{
    if (state_ != state::ready || requests_.empty())
        return core::never;
    return std::max(requests_.front().sent, last_answered_) + settings_.silence_timeout;
}

core::time_point node_session::check_due() const noexcept
{
    if (state_ != state::ready || checking_ || behind_since_ == core::never)
        return core::never;
    return behind_since_ + settings_.silence_timeout;
}

// Nothing else that we ask has the digest of a script as its answer.
void node_session::check_order(core::time_point now)
{
    std::string command;
    resp::append_command(command, {"SCRIPT", "LOAD", release_script.text});
    checking_ = true;
    send(command, {.reference = 0, .kind = request_kind::order, .sent = now});
}

// Whether this may be the answer to that request.
bool node_session::in_order(const request& r, reply answer)
{
    if (!checking_)
        return true;
    const bool by_the_check = r.kind == request_kind::order;
    const bool refused = by_the_check && answer.front().kind == resp::value_kind::error;
    return refused || by_the_check == (answer.front().text == release_script.digest);
}

void node_session::wake(core::time_point now)
{
    if (!started_) {
        started_ = true;
        deadline_ = now + settings_.connect_timeout;
        return;
    }
    if (look_at_ <= now) {
        if (silence_ends() <= now)
            return begin_closing({errc::no_reply, "silent for too long, connection closed"}, now);
        if (check_due() <= now)
            check_order(now);
        look_at_ = std::min(silence_ends(), check_due());
    }
    if (deadline_ > now)
        return;
    deadline_ = core::never;
    if (state_ == state::pausing) {
        state_ = state::connecting;
        deadline_ = now + settings_.connect_timeout;
    } else if (state_ == state::connecting || state_ == state::greeting) {
        begin_closing({errc::no_reply, "no connection within the connect timeout"}, now);
    }
}

void node_session::shut(core::time_point now)
{
    failure last = failure_.code ? failure_ : trouble_;
    begin_closing({errc::closed, "the locker was closed"}, now);
    if (last.code && state_ != state::shut)
        failure_ = {last.code, last.text + " (before the locker was closed)"};
    state_ = state::shut;
    started_ = true;
    deadline_ = core::never;
}

bool node_session::wants_open() const noexcept
{
    return started_ &&
           (state_ == state::connecting || state_ == state::greeting || state_ == state::ready);
}

void node_session::opened(core::time_point now)
{
    if (state_ != state::connecting)
        return; // closed() will follow
    state_ = state::greeting;
    last_answered_ = now;
    behind_since_ = core::never;
    checking_ = false;
    out_.clear();
    out_begin_ = 0;
    reader_.reset();
    first_bytes_.clear();
    pushes_.reset(now);
    handshake_.start(settings_, out_);
}

// Gives the connection up; its requests are orphaned. closed() will follow.
void node_session::begin_closing(failure why, core::time_point now)
{
    if (state_ == state::shut || state_ == state::closing || state_ == state::pausing)
        return;
    const bool worked = state_ == state::ready;
    failure_ = std::move(why);
    trouble_ = {};
    state_ = state::closing;
    out_.clear();
    out_begin_ = requests_written_ = next_written_ = greeting_left_ = 0;
    look_at_ = core::never;
    hopeful_ =
        worked && now - connected_at_ > stable_after && failure_.code != condition::misconfigured;
    failures_ = hopeful_ ? 0 : failures_ + 1;
    deadline_ = core::never;
    while (!requests_.empty()) {
        const request r = requests_.pop();
        if (r.kind != request_kind::order)
            owner_.on_orphaned(node_, r, now);
    }
    owner_.on_down(node_, now);
}

void node_session::closed(error_code why, core::time_point now)
{
    if (state_ == state::shut || state_ == state::pausing)
        return;
    const auto tls_failed = make_error_code(errc::tls_failed);
    const bool by_tls = why.default_error_condition() == tls_failed.default_error_condition();
    begin_closing({by_tls ? tls_failed : why, why.message()}, now);

    // The first attempt after a connection that worked is made at once: usually the node is back.
    core::duration pause{0};
    if (!hopeful_)
        pause = core::backoff(failures_, settings_.reconnect_min, settings_.reconnect_max, jitter_);
    if (failure_.code == condition::misconfigured)
        pause = std::max(pause, std::min(hopeless_pause, settings_.reconnect_max));
    if (pause == core::duration(0)) {
        state_ = state::connecting;
        deadline_ = now + settings_.connect_timeout;
    } else {
        state_ = state::pausing;
        deadline_ = now + pause;
    }
}

std::span<char> node_session::read_space()
{
    return space_ = reader_.prepare(read_size);
}

void node_session::received(std::size_t n, core::time_point now)
{
    if (state_ == state::greeting) {
        first_bytes_.add({space_.data(), n});
        if (const std::string_view wrong = first_bytes_.objection(); !wrong.empty())
            return begin_closing({errc::protocol_error, std::string(wrong)}, now);
    }
    reader_.commit(n);
    take_replies(now);
}

void node_session::take_replies(core::time_point now)
{
    while (state_ == state::ready || state_ == state::greeting) {
        switch (reader_.next()) {
        case resp::reader::status::need_more:
            return;
        case resp::reader::status::broken:
            return begin_closing({errc::protocol_error, std::string(reader_.problem())}, now);
        case resp::reader::status::reply:
            break;
        }
        const reply answer = reader_.reply();
        const bool push = answer.front().kind == resp::value_kind::push;
        if (push && !pushes_.spend(answer, now))
            return begin_closing({errc::protocol_error, "it sends too many pushes"}, now);
        if (state_ == state::greeting) {
            if (!push || handshake_.expects(answer))
                on_handshake_reply(answer, now);
        } else if (push) {
            owner_.on_push(node_, answer, now);
        } else {
            on_request_reply(answer, now);
        }
    }
}

void node_session::on_handshake_reply(reply answer, core::time_point now)
{
    const std::size_t asked = out_.size();
    const auto outcome = handshake_.on_reply(answer, out_);
    if (out_.size() != asked)
        clock_asked_ = now;
    switch (outcome) {
    case handshake::outcome::going_on:
        return;
    case handshake::outcome::failed:
        return begin_closing(handshake_.why(), now);
    case handshake::outcome::ready:
        break;
    }
    if (std::string objection = owner_.admit(node_); !objection.empty())
        return begin_closing({errc::misconfigured_node, std::move(objection)}, now);
    state_ = state::ready;
    greeting_left_ = out_.size() - out_begin_;
    deadline_ = core::never;
    connected_at_ = now;
    keeps_queue_ = handshake_.subscribed();
    identity_ = hash_of(handshake_.run_id().empty() ? settings_.name : handshake_.run_id());
    failure_ = {};
    refused_kind_.reset();
    ++connects_;
    owner_.on_ready(node_, now);
}

void node_session::on_request_reply(reply answer, core::time_point now)
{
    if (requests_written_ == 0)
        return begin_closing({errc::protocol_error, "a reply without a request"}, now);
    if (!in_order(requests_.front(), answer))
        return begin_closing({errc::protocol_error, "it answers requests out of order"}, now);
    const request r = requests_.pop();
    --requests_written_;
    pushes_.answered();
    last_answered_ = now;
    if (requests_.empty())
        look_at_ = behind_since_ = core::never;
    else if (behind_since_ == core::never || r.kind == request_kind::order)
        behind_since_ = now;
    if (r.kind == request_kind::order) {
        checking_ = false;
        return;
    }
    if (is_no_script(answer)) {
        if (!r.by_text && owner_.say_again(node_, r, now))
            return;
    } else if (answer.front().kind == resp::value_kind::error) {
        failure why = failure_of(answer.front().text);
        failure_ = why;
        refused_kind_ = r.kind;
        owner_.on_reply(node_, r, answer, now);
        if (disqualifies(static_cast<errc>(why.code.value())))
            begin_closing(std::move(why), now);
        return;
    } else if (failure_.code && refused_kind_.value_or(r.kind) == r.kind) {
        failure_ = {}; // it now does what it had refused; other requests prove nothing
        refused_kind_.reset();
    }
    owner_.on_reply(node_, r, answer, now);
}

std::string_view node_session::output() const noexcept
{
    return std::string_view(out_).substr(out_begin_);
}

void node_session::written(std::size_t n, core::time_point now)
{
    out_begin_ += n;
    const std::size_t of_greeting = std::min(greeting_left_, n);
    greeting_left_ -= of_greeting;
    if (state_ == state::ready)
        stamp_written(n - of_greeting, now);
    if (out_begin_ == out_.size()) {
        if (out_.capacity() > most_kept)
            std::string().swap(out_); // a burst of renewals is over
        out_.clear();
        out_begin_ = 0;
    } else if (out_begin_ > out_.size() / 2 && out_begin_ > 64 * 1024) {
        out_.erase(0, out_begin_);
        out_begin_ = 0;
    }
}

// The time of a request counts from when it is sent: while it waits for our own loop, or for room
// in the socket, the node has not been asked yet.
void node_session::stamp_written(std::size_t n, core::time_point now)
{
    next_written_ += n;
    while (requests_written_ < requests_.size() &&
           next_written_ >= requests_[requests_written_].bytes) {
        request& r = requests_[requests_written_++];
        next_written_ -= r.bytes;
        const bool late = now - r.sent > late_after;
        r.sent = std::max(r.sent, now);
        if (late && r.kind != request_kind::order)
            owner_.on_sent_late(node_, r, now);
    }
}

} // namespace holdfast::redis
