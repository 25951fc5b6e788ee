#include "redis/node/answer_watch.hpp"

#include "redis/node/scripts.hpp"
#include "resp/command.hpp"

namespace holdfast::redis {

void answer_watch::start(core::time_point now) noexcept
{
    last_answered_ = now;
    behind_since_ = look_at_ = core::never;
    asked_ = false;
}

void answer_watch::on_answered(request_kind kind, bool more_wait, core::time_point now) noexcept
{
    last_answered_ = now;
    if (!more_wait)
        look_at_ = behind_since_ = core::never;
    else if (behind_since_ == core::never || kind == request_kind::order)
        behind_since_ = now;
    if (kind == request_kind::order)
        asked_ = false;
}

core::time_point answer_watch::question_due() const noexcept
{
    return asked_ || behind_since_ == core::never ? core::never : behind_since_ + timeout_;
}

answer_watch::finding answer_watch::look(core::time_point oldest, core::time_point now) noexcept
{
    const core::time_point silence_ends = std::max(oldest, last_answered_) + timeout_;
    if (silence_ends <= now)
        return finding::silent;
    const bool in_doubt = question_due() <= now;
    if (in_doubt)
        asked_ = true;
    look_at_ = std::min(silence_ends, question_due());
    return in_doubt ? finding::in_doubt : finding::fine;
}

// Nothing else that we ask has the digest of a script as its answer.
std::string answer_watch::question()
{
    std::string command;
    resp::append_command(command, {"SCRIPT", "LOAD", release_script.text});
    return command;
}

bool answer_watch::is_in_place(request_kind kind, reply answer) noexcept
{
    const bool to_the_question = kind == request_kind::order;
    const bool refused = to_the_question && answer.front().kind == resp::value_kind::error;
    return refused || to_the_question == (answer.front().text == release_script.digest);
}

} // namespace holdfast::redis
