#pragma once

#include "core/connection.hpp"
#include "core/member_record.hpp"
#include "core/output_buffer.hpp"
#include "etcd/login.hpp"
#include "etcd/member_settings.hpp"
#include "etcd/wire/grpc.hpp"

#include <array>
#include <optional>
#include <string>

namespace holdfast::etcd_store {

class channel;

// What a channel reports.
class channel_owner {
public:
    // Calls can be made from now on.
    virtual void on_ready(channel& which, core::time_point now) = 0;
    // The stream is closed, or the channel has failed and lets it be closed.
    virtual void on_failed(channel& which, core::time_point now) = 0;
    // Of a call that is known here.
    virtual void on_arrival(const wire::arrival& what, core::time_point now) = 0;
    // Requests that have gathered are to be made now, and whether there are any.
    virtual void gather_requests() = 0;
    virtual bool has_requests() const noexcept = 0;

protected:
    ~channel_owner() = default;
};

// The connection to one member: opens it, logs in, and carries calls.
class channel final : public core::connection {
public:
    // All of these outlive it.
    channel(const cluster_settings& settings, const member_address& member, channel_owner& owner);

    void start(core::time_point now);
    // Has the stream closed. The reason is told in record(), unless it is empty.
    void stop() noexcept;
    void fail(errc why, std::string reason, core::time_point now);
    // Precondition of start().
    bool is_idle() const noexcept { return state_ == state::idle; }
    bool is_ready() const noexcept { return state_ == state::ready; }

    // Precondition: is_ready().
    wire::grpc_calls& calls() noexcept { return *calls_; }
    wire::stream_id begin(
        std::string_view path, std::string_view message, bool needs_leader, bool more_messages);

    core::member_record& record() noexcept { return record_; }

    // core::connection
    const core::address& target() const noexcept override { return member_.where; }
    bool wants_open() const noexcept override
    {
        return state_ == state::opening || state_ == state::login || state_ == state::ready;
    }
    core::time_point opening_ends() const noexcept override { return opening_ends_; }
    void opened(core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    std::span<char> read_space() override { return arrived_; }
    void received(std::size_t n, core::time_point now) override;
    std::size_t unsent() const noexcept override;
    void prepare_output() override;
    std::string_view output() const noexcept override { return out_.bytes(); }
    void written(std::size_t n, core::time_point) override { out_.take(n); }

private:
    // closing: the stream is not wanted any more, and is still open
    enum class state : std::uint8_t { idle, opening, login, ready, closing };

    void become_ready(core::time_point now);

    const cluster_settings& settings_;
    const member_address& member_;
    channel_owner& owner_;
    std::optional<wire::grpc_calls> calls_;
    state state_ = state::idle;
    core::time_point opening_ends_ = core::never;
    login login_;
    core::output_buffer out_;
    core::member_record record_;
    std::array<char, 16 * 1024> arrived_{};
};

} // namespace holdfast::etcd_store
