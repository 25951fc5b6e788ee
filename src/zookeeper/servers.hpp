#pragma once

#include "core/connection.hpp"
#include "core/journal.hpp"
#include "core/rotation.hpp"
#include "zookeeper/channel.hpp"
#include "zookeeper/server_settings.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace holdfast::zookeeper_store {

// What the choice of a server reports.
class servers_owner {
public:
    virtual wire::connect_request greeting() = 0;
    virtual void on_greeted(
        const wire::connect_reply& reply, core::time_point sent, core::time_point now) = 0;
    virtual void on_up(core::time_point now) = 0;
    // No answer comes any more. Requests without one may have been carried out, or may still be.
    virtual void on_down(core::time_point now) = 0;
    // All servers have failed, one after the other; the last one for this reason.
    virtual void on_cut_off(errc why, core::time_point now) = 0;
    virtual void on_reply(
        const wire::reply_header& header, std::string_view record, core::time_point now) = 0;
    virtual void on_event(const wire::watch_event& event, core::time_point now) = 0;

protected:
    ~servers_owner() = default;
};

// Uses one server of the ensemble at a time. When it fails, the next one is tried at once; when all
// have failed, after a pause. Pauses grow, and are random.
class servers final : private channel_owner {
public:
    // Both outlive it.
    servers(const ensemble_settings& settings, servers_owner& owner, std::uint64_t jitter_seed);

    std::span<core::connection* const> connections() noexcept { return connections_; }

    bool is_up() const noexcept { return active_ && channels_[rotation_.current()]->is_ready(); }
    channel& current() noexcept { return *channels_[rotation_.current()]; }

    // The present server has failed. Does nothing if none is up.
    void fail(errc why, std::string reason, core::time_point now);
    // The present server, whose connection may not be up yet, is of no use for this reason.
    void reject(errc why, std::string reason, core::time_point now)
    {
        current().fail(why, std::move(reason), now);
    }
    // Connects to the same server once more.
    void begin_again(core::time_point now);
    // A heartbeat has succeeded. Other requests tell little: each may need other rights.
    void note_success() noexcept;
    // Why no server is likely to answer now; none if one may.
    errc cut_off() const noexcept { return is_up() ? errc{} : rotation_.cut_off(); }

    // `heard`: see core::backend_core.
    void wake(core::time_point now, core::time_point heard);
    core::time_point wake_at() const noexcept
    {
        return active_ ? channels_[rotation_.current()]->opening_ends() : rotation_.next_at();
    }
    void close() noexcept;

    // They live as long as other calls are made.
    void report_to(core::journal& observers) noexcept { journal_ = &observers; }
    std::vector<node_stats> stats() const;
    std::string name_of(std::size_t server) const { return settings_.servers[server].name; }

private:
    wire::connect_request greeting() override { return owner_.greeting(); }
    void on_greeted(
        const wire::connect_reply& reply, core::time_point sent, core::time_point now) override
    {
        owner_.on_greeted(reply, sent, now);
    }
    void on_ready(channel& which, core::time_point now) override;
    void on_failed(channel& which, core::time_point now) override;
    void on_reply(
        const wire::reply_header& header, std::string_view record, core::time_point now) override
    {
        owner_.on_reply(header, record, now);
    }
    void on_event(const wire::watch_event& event, core::time_point now) override
    {
        owner_.on_event(event, now);
    }
    void note(event::type kind, event_level level, channel& which, core::time_point now);

    const ensemble_settings& settings_;
    servers_owner& owner_;
    core::rotation rotation_;
    std::vector<std::unique_ptr<channel>> channels_;
    std::vector<std::unique_ptr<core::connection>> layers_;
    std::vector<core::connection*> connections_;
    bool active_ = false; // the current one is used, or being opened
    bool told_up_ = false;
    core::journal* journal_ = nullptr;
};

} // namespace holdfast::zookeeper_store
