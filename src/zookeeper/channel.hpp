#pragma once

#include "core/connection.hpp"
#include "core/member_record.hpp"
#include "core/output_buffer.hpp"
#include "zookeeper/server_settings.hpp"
#include "zookeeper/wire/jute.hpp"
#include "zookeeper/wire/messages.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::zookeeper_store {

class channel;

// What a channel reports.
class channel_owner {
public:
    // What the connection begins with.
    virtual wire::connect_request greeting() = 0;
    // The answer to that. Then the channel becomes ready, unless it is stopped.
    virtual void on_greeted(
        const wire::connect_reply& reply, core::time_point sent, core::time_point now) = 0;
    virtual void on_ready(channel& which, core::time_point now) = 0;
    // It cannot be used any more. The reason is told in record().
    virtual void on_failed(channel& which, core::time_point now) = 0;
    // The answer to a request. `record`: all of it.
    virtual void on_reply(
        const wire::reply_header& header, std::string_view record, core::time_point now) = 0;
    virtual void on_event(const wire::watch_event& event, core::time_point now) = 0;

protected:
    ~channel_owner() = default;
};

// The connection to one server. Begins or resumes the session when the stream is open, and logs in
// if there is a user.
class channel final : public core::connection {
public:
    // All of these outlive it.
    channel(const ensemble_settings& settings, const server_address& server, channel_owner& owner);

    void start(core::time_point now);
    // Has the stream closed.
    void stop() noexcept;
    void fail(errc why, std::string reason, core::time_point now);
    // Precondition of start().
    bool is_idle() const noexcept { return state_ == state::idle; }
    bool is_ready() const noexcept { return state_ == state::ready; }

    // Sends a request and returns its number. Precondition: is_ready().
    std::int32_t send(wire::request&& what);

    core::member_record& record() noexcept { return record_; }

    // core::connection
    const core::address& target() const noexcept override { return server_.where; }
    bool wants_open() const noexcept override
    {
        return state_ != state::idle && state_ != state::closing;
    }
    core::time_point opening_ends() const noexcept override { return opening_ends_; }
    void opened(core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    std::span<char> read_space() override { return arrived_; }
    void received(std::size_t n, core::time_point now) override;
    std::string_view output() const noexcept override { return out_.bytes(); }
    void written(std::size_t n, core::time_point) override { out_.take(n); }

private:
    // closing: the stream is not wanted any more, and is still open
    enum class state : std::uint8_t { idle, opening, greeting, login, ready, closing };

    void read(std::string_view record, core::time_point now);
    void greeted(std::string_view record, core::time_point now);
    void logged_in(const wire::reply_header& header, core::time_point now);
    void become_ready(core::time_point now);

    const ensemble_settings& settings_;
    const server_address& server_;
    channel_owner& owner_;
    state state_ = state::idle;
    core::time_point opening_ends_ = core::never, greeted_at_{};
    std::int32_t last_number_ = 0;
    wire::frame_reader in_{wire::longest_record};
    core::output_buffer out_;
    core::member_record record_;
    std::array<char, 16 * 1024> arrived_{};
};

} // namespace holdfast::zookeeper_store
