#pragma once

#include "core/backoff.hpp"
#include "core/connection.hpp"
#include "core/ring.hpp"
#include "redis/node/first_bytes.hpp"
#include "redis/node/handshake.hpp"
#include "redis/node/node_settings.hpp"
#include "redis/node/push_allowance.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/request.hpp"
#include "resp/reader.hpp"

#include <holdfast/stats.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

// One node: connects, greets, sends requests in order, matches replies to them, and reconnects with
// growing random pauses. A request that was not answered in time keeps its place, so its late reply
// is never taken for that of another request. The connection is closed only when no request at all
// has been answered for a long time.
//
// A proxy that swallows requests shifts all later replies. Usually the next request of another kind
// shows that, by a reply of the wrong type. Otherwise it is found in one of these ways:
// - Nothing is answered for the silence timeout, whatever else arrives. Each answer starts it
//   again, so a slow node that keeps answering is not given up, however long the requests behind
//   wait.
// - For that time, each answer has left another request waiting. That happens when a request has
//   been swallowed, and also when there is always something to do. Then the session itself sends a
//   request that has only one right answer, which must come in its place.
class node_session final : public core::connection {
public:
    node_session(
        std::size_t node, node_settings settings, session_owner& owner, std::uint64_t jitter_seed);
    node_session(const node_session&) = delete;
    node_session& operator=(const node_session&) = delete;

    enum class reachability : std::uint8_t {
        ready,
        soon, // connecting for the first time, or after the connection had worked: worth a wait
        down,
    };
    reachability now() const noexcept;

    // Whether optional requests should be left out: the node is silent, or has too many requests
    // under way.
    bool congested(core::time_point now) const noexcept;

    // Whether it can keep a queue for us: it tells us when our turn has come.
    bool keeps_queue() const noexcept { return state_ == state::ready && keeps_queue_; }
    // It has refused to keep a queue, and will not be asked again on this connection.
    void has_no_queue() noexcept { keeps_queue_ = false; }
    // Whether it tells us, on request, when a key changes.
    bool tracks() const noexcept { return state_ == state::ready && handshake_.tracks(); }
    // False if a request has waited for longer than `limit` while the node answered nothing.
    bool answers_within(core::duration limit, core::time_point now) const noexcept;
    // Identifies the server, independent of the address that it was reached by.
    std::uint64_t identity() const noexcept { return identity_; }

    // Precondition: now() is `ready`. `bytes`: one encoded command.
    void send(std::string_view bytes, request r);

    // The node has given an answer that makes it unusable.
    void fail(errc code, std::string text, core::time_point now);
    void count_timeout();

    const failure& last_failure() const noexcept { return failure_; }
    // Prefixes the text of the error that the node has just answered with what it is about.
    void explain(std::string_view about) { failure_.text.insert(0, about); }
    // What the node cannot do for us now, although the connection is in order: a text for people.
    // Empty if there is no trouble.
    void note_trouble(failure why) { trouble_ = std::move(why); }
    const failure& trouble() const noexcept { return trouble_; }

    // For a node of fenced mode: its clock at the greeting, in ms since the epoch, and when it was
    // asked for it.
    std::int64_t clock_ms() const noexcept { return handshake_.clock_ms(); }
    core::time_point clock_asked() const noexcept { return clock_asked_; }

    const std::string& run_id() const noexcept { return handshake_.run_id(); }
    const node_settings& settings() const noexcept { return settings_; }
    std::size_t outstanding() const noexcept { return requests_.size(); }
    node_stats stats() const;

    core::time_point wake_at() const noexcept { return std::min(deadline_, look_at_); }
    void wake(core::time_point now);
    // Closes it for good. The last failure can still be read.
    void shut(core::time_point now);

    // core::connection
    const core::address& target() const noexcept override { return settings_.where; }
    bool wants_open() const noexcept override;
    core::time_point opening_ends() const noexcept override { return deadline_; }
    void opened(core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    std::span<char> read_space() override;
    void received(std::size_t n, core::time_point now) override;
    std::string_view output() const noexcept override;
    void written(std::size_t n, core::time_point now) override;

private:
    enum class state : std::uint8_t { connecting, greeting, ready, closing, pausing, shut };

    void on_handshake_reply(reply answer, core::time_point now);
    void on_request_reply(reply answer, core::time_point now);
    void take_replies(core::time_point now);
    void stamp_written(std::size_t n, core::time_point now);
    void begin_closing(failure why, core::time_point now);
    core::time_point silence_ends() const noexcept;
    core::time_point check_due() const noexcept;
    void check_order(core::time_point now);
    bool in_order(const request& r, reply answer);

    const std::size_t node_;
    const node_settings settings_;
    session_owner& owner_;
    core::jitter jitter_;

    state state_ = state::connecting;
    bool hopeful_ = true; // this attempt to connect is worth a wait
    bool started_ = false;
    bool keeps_queue_ = false;
    std::uint64_t identity_ = 0;
    unsigned failures_ = 0; // to connect, in a row
    // Of connecting and greeting, or of the pause; the first wake() is due at once.
    core::time_point deadline_ = core::long_ago;
    core::time_point last_answered_{}, connected_at_{}, clock_asked_{};
    core::time_point look_at_ = core::never;      // when to check silence and order; never too late
    core::time_point behind_since_ = core::never; // since then, answers leave requests waiting
    bool checking_ = false;                       // the order of answers is being checked

    handshake handshake_;
    first_bytes first_bytes_; // of this connection
    std::span<char> space_;   // where the next bytes arrive
    resp::reader reader_;
    push_allowance pushes_;
    core::ring<request> requests_;
    std::size_t requests_written_ = 0; // of these; the others are, wholly or in part, in `out_`
    std::size_t next_written_ = 0;     // bytes of the first of the others that have been sent
    std::size_t greeting_left_ = 0;    // bytes of the greeting before them
    std::string out_;
    std::size_t out_begin_ = 0;

    failure failure_, trouble_;
    std::optional<request_kind> refused_kind_; // of the request that failure_ is the answer to
    std::uint64_t commands_ = 0, timeouts_ = 0, connects_ = 0;
};

} // namespace holdfast::redis
