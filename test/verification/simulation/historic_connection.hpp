#pragma once

#include "core/connection.hpp"
#include "resp/command.hpp"
#include "resp/reader.hpp"

#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::simulation {

// A plain connection of a historic lock to one node. Replies arrive in the order of the commands.
class historic_connection final : public core::connection {
public:
    struct answer {
        bool lost = false;  // the outcome of the command is unknown
        bool error = false; // the reply is an error
        std::int64_t number = 0;
        std::string text;
    };
    using handler = std::function<void(const answer&, core::time_point now)>;

    bool open() const noexcept { return open_; }

    // Precondition: open(). `done` may be empty.
    void send(std::initializer_list<std::string_view> command, handler done)
    {
        resp::append_command(out_, command);
        handlers_.push_back(std::move(done));
    }

    void shut(core::time_point now)
    {
        shut_ = true;
        lose_all(now);
    }

    // A connection to a silent node is given up. After a failure there is a pause.
    core::time_point wake_at() const noexcept
    {
        if (shut_)
            return core::never;
        return handlers_.empty() ? again_at_ : heard_at_ + silence;
    }
    void wake(core::time_point now)
    {
        if (handlers_.empty())
            heard_at_ = now;
        else if (now >= heard_at_ + silence)
            closed({}, now);
        if (now >= again_at_)
            again_at_ = core::never;
    }

    std::function<void()> on_open;

    const core::address& target() const noexcept override { return nowhere_; }
    bool wants_open() const noexcept override { return !shut_ && again_at_ == core::never; }
    void opened(core::time_point) override
    {
        open_ = true;
        out_.clear();
        reader_.reset();
        on_open();
    }
    void closed(error_code, core::time_point now) override
    {
        lose_all(now);
        again_at_ = now + std::chrono::milliseconds(50);
    }
    std::span<char> read_space() override { return reader_.prepare(4096); }
    void received(std::size_t n, core::time_point now) override
    {
        heard_at_ = now;
        reader_.commit(n);
        while (!handlers_.empty() && reader_.next() == resp::reader::status::reply) {
            const resp::value& v = reader_.reply().front();
            const answer a{.error = v.kind == resp::value_kind::error,
                .number = v.integer,
                .text = std::string(v.text)};
            const handler done = std::move(handlers_.front());
            handlers_.pop_front();
            if (done)
                done(a, now);
        }
    }
    std::string_view output() const noexcept override { return out_; }
    void written(std::size_t n, core::time_point) override { out_.erase(0, n); }

private:
    static constexpr core::duration silence = std::chrono::seconds(5);

    void lose_all(core::time_point now)
    {
        open_ = false;
        out_.clear();
        for (const handler& done : std::exchange(handlers_, {}))
            if (done)
                done({.lost = true, .text = {}}, now);
    }

    core::address nowhere_;
    bool open_ = false, shut_ = false;
    core::time_point again_at_ = core::never, heard_at_{};
    std::string out_;
    resp::reader reader_;
    std::deque<handler> handlers_;
};

} // namespace holdfast::simulation
