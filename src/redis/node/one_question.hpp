#pragma once

#include "core/connection.hpp"
#include "core/output_buffer.hpp"
#include "redis/node/inbox.hpp"
#include "redis/node/reply.hpp"

#include <holdfast/endpoint.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

class question_owner {
public:
    // The login for the stream that has just been opened; without a password
    // there is none. An exception means that the program has none, and the
    // question fails.
    virtual credentials login() = 0;
    // The question has ended with this answer; valid during the call.
    virtual void on_answer(reply answer, core::time_point now) = 0;
    // The question has ended with an error of the server; `text` is valid during the call, and
    // `why` has a harmless part of it.
    virtual void on_error(std::string_view text, failure why, core::time_point now) = 0;
    // It has ended without an answer.
    virtual void on_failed(failure why, core::time_point now) = 0;
    // The stream of a question that had ended is closed.
    virtual void on_closed(core::time_point) {}

protected:
    ~question_owner() = default;
};

// Asks a server one question at a time, each on a new connection: opens it,
// logs in, asks, and closes it again.
class one_question final : public core::connection {
public:
    // `owner` outlives it.
    explicit one_question(
        core::address where, question_owner& owner, resp::reader_limits limits = {});

    // Precondition: is_free().
    void aim(core::address where) { where_ = std::move(where); }
    // `command`: encoded. `end`: no answer is wanted after that. If the stream of
    // the last question is still open, it is closed first.
    void ask(std::string command, core::time_point end);
    // No answer is wanted any more.
    void stop() noexcept;

    // On the stream of this question, not of the last one.
    bool is_connected() const noexcept { return open_ && !outdated_; }
    // Nothing is asked, and no stream is open.
    bool is_free() const noexcept { return !asking_ && !open_ && !closing_; }

    // core::connection
    const core::address& target() const noexcept override { return where_; }
    bool wants_open() const noexcept override { return asking_ && !outdated_; }
    core::time_point opening_ends() const noexcept override { return end_; }
    void opened(core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    std::span<char> read_space() override { return inbox_.space(); }
    void received(std::size_t n, core::time_point now) override;
    std::string_view output() const noexcept override { return output_.bytes(); }
    void written(std::size_t n, core::time_point) override { output_.take(n); }

private:
    void on_reply(reply answer, core::time_point now);
    void fail(failure why, core::time_point now);

    core::address where_;
    question_owner& owner_;
    std::string command_;
    bool asking_ = false, open_ = false;
    bool closing_ = false;  // a question has ended, and its stream is not closed yet
    bool outdated_ = false; // the open stream is that of an earlier question
    bool logging_in_ = false;
    std::string secret_; // the password of the open stream
    core::time_point end_ = core::never;
    inbox inbox_;
    core::output_buffer output_;
};

} // namespace holdfast::redis
