#pragma once

#include "redis/node/one_question.hpp"
#include "redis/node/reply.hpp"
#include "redis/node/sentinel_settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

class sentinel_query_owner {
public:
    // The question is answered, or has failed.
    virtual void on_settled(core::time_point now) = 0;

protected:
    ~sentinel_query_owner() = default;
};

// Asks one sentinel for the address of a primary.
class sentinel_query final : private question_owner {
public:
    // All of these outlive it.
    sentinel_query(const sentinel& asked, const std::string& service, sentinel_query_owner& owner);
    sentinel_query(const sentinel_query&) = delete;
    sentinel_query& operator=(const sentinel_query&) = delete;

    enum class state : std::uint8_t { idle, asking, answered, failed };
    state now() const noexcept { return state_; }
    // For the last question, not for an earlier one.
    bool is_connected() const noexcept { return question_.is_connected(); }
    const std::string& name() const noexcept { return sentinel_.name; }
    const core::address& answer() const noexcept { return answer_; } // when `answered`
    const failure& why() const noexcept { return why_; }             // when `failed`

    // `end`: no answer is wanted after that.
    void ask(core::time_point end);
    // No answer is wanted any more.
    void stop() noexcept;

    core::connection& connection() noexcept { return question_; }

private:
    // question_owner
    credentials login() override { return sentinel_.login ? sentinel_.login() : credentials{}; }
    void on_answer(reply answer, core::time_point now) override;
    void on_error(std::string_view text, failure why, core::time_point now) override;
    void on_failed(failure why, core::time_point now) override;

    const sentinel& sentinel_;
    const std::string& service_;
    sentinel_query_owner& owner_;
    state state_ = state::idle;
    one_question question_;
    core::address answer_;
    failure why_;
};

} // namespace holdfast::redis
