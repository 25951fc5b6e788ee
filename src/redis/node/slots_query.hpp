#pragma once

#include "core/stream_layer.hpp"
#include "redis/node/node_settings.hpp"
#include "redis/node/one_question.hpp"
#include "redis/node/reply.hpp"

#include <memory>
#include <string_view>

namespace holdfast::redis {

class slots_query_owner {
public:
    // The answer of the node that was asked; valid during the call.
    virtual void on_slots(reply answer, core::time_point now) = 0;
    // No failure: the next question can be asked.
    virtual void on_no_slots(failure why, core::time_point now) = 0;

protected:
    ~slots_query_owner() = default;
};

// Asks one member of a cluster for the owners of all slots.
class slots_query final : private question_owner {
public:
    // Both outlive it. `settings`: the login, and the layer over the stream.
    slots_query(const node_settings& settings, slots_query_owner& owner);
    slots_query(const slots_query&) = delete;
    slots_query& operator=(const slots_query&) = delete;

    // Whether the next question can be asked: the stream of the last one is
    // closed.
    bool is_free() const noexcept { return question_.is_free(); }
    // Precondition: is_free(). `end`: no answer is wanted after that.
    void ask(core::address where, core::time_point end);
    // No answer is wanted any more.
    void stop() noexcept { question_.stop(); }
    // The member that was asked last.
    const core::address& target() const noexcept { return question_.target(); }

    core::connection& connection() noexcept { return layer_ != nullptr ? *layer_ : question_; }

private:
    // question_owner
    credentials login() override;
    void on_answer(reply answer, core::time_point now) override;
    void on_error(std::string_view text, failure why, core::time_point now) override;
    void on_failed(failure why, core::time_point now) override
    {
        owner_.on_no_slots(std::move(why), now);
    }
    void on_closed(core::time_point now) override { owner_.on_no_slots({}, now); }

    const node_settings& settings_;
    slots_query_owner& owner_;
    one_question question_;
    std::unique_ptr<core::connection> layer_; // over TLS
};

} // namespace holdfast::redis
