#include "redis/node/one_question.hpp"

#include "resp/command.hpp"

namespace holdfast::redis {

one_question::one_question(core::address where, question_owner& owner, resp::reader_limits limits)
    : where_(std::move(where)),
      owner_(owner),
      inbox_(limits)
{}

void one_question::ask(std::string command, core::time_point end)
{
    command_ = std::move(command);
    asking_ = true;
    outdated_ = open_;
    end_ = end;
}

void one_question::stop() noexcept
{
    closing_ = std::exchange(asking_, false) || closing_;
    output_.clear();
}

void one_question::opened(core::time_point now)
{
    open_ = true;
    if (!wants_open())
        return; // closed() will follow
    inbox_.reset(now);
    output_.clear();
    credentials login;
    try {
        login = owner_.login();
    } catch (...) { // the program's own, which may have a secret in its text
        return fail({errc::authentication_failed, "the program gave no credentials"}, now);
    }
    std::string bytes;
    logging_in_ = !login.password.empty();
    if (logging_in_ && login.user.empty())
        resp::append_command(bytes, {"AUTH", login.password});
    else if (logging_in_)
        resp::append_command(bytes, {"AUTH", login.user, login.password});
    secret_ = std::move(login.password);
    output_.append(bytes);
    output_.append(command_);
}

void one_question::closed(error_code why, core::time_point now)
{
    open_ = closing_ = false;
    if (std::exchange(outdated_, false))
        return;
    if (!std::exchange(asking_, false))
        return owner_.on_closed(now);
    output_.clear();
    owner_.on_failed(failure_of(why), now);
}

void one_question::received(std::size_t n, core::time_point now)
{
    inbox_.add(n);
    while (wants_open()) {
        switch (inbox_.next(now)) {
        case inbox::item::none:
            return;
        case inbox::item::broken:
            return fail({errc::protocol_error, std::string(inbox_.problem())}, now);
        case inbox::item::answer:
            on_reply(inbox_.front(), now);
            break;
        case inbox::item::push:
            break;
        }
    }
}

// No text of the server is shown where it may have a password in it.
void one_question::on_reply(reply answer, core::time_point now)
{
    if (std::exchange(logging_in_, false)) {
        if (answer.front().kind == resp::value_kind::error)
            fail({errc::authentication_failed, "it refused the user name or password"}, now);
        return;
    }
    stop();
    if (const resp::value& v = answer.front(); v.kind == resp::value_kind::error)
        return owner_.on_error(v.text, failure_of(v.text, secret_), now);
    owner_.on_answer(answer, now);
}

void one_question::fail(failure why, core::time_point now)
{
    stop();
    owner_.on_failed(std::move(why), now);
}

} // namespace holdfast::redis
