#pragma once

#include "zookeeper/node_names.hpp"
#include "zookeeper/requester.hpp"
#include "zookeeper/server_settings.hpp"
#include "zookeeper/session.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace holdfast::zookeeper_store {

// Keeps the session alive: creates its node, and writes to it.
class session_keeper {
public:
    // All of these outlive it.
    session_keeper(session& kept, requester& out, const node_paths& paths,
        const lock_settings& settings) noexcept
        : session_(kept),
          out_(out),
          paths_(paths),
          settings_(settings)
    {}

    // A claim waits for the next confirmation: heartbeats are sent as often as is allowed until
    // there is no such claim.
    void hurry(bool is_waited_for) noexcept { soon_ = is_waited_for; }

    core::time_point next_at() const noexcept
    {
        if (!session_.is_alive() || !out_.can_send())
            return core::never;
        return std::max(session_.kept().next_at(session_.timeout(), soon_), retry_at_);
    }
    // Sends a heartbeat if it is time.
    void serve(core::time_point now);
    // A heartbeat is answered. False if the session has not been confirmed by it. The error is told
    // if it is none that is expected.
    struct outcome {
        bool works = false; // the session's node is there
        bool confirmed = false;
        std::int32_t trouble = wire::code::ok;
    };
    outcome answered(const request& r, std::int32_t error, core::time_point now);
    // A folder that leads to the session's node could not be created.
    void folder_failed(std::int32_t error) noexcept { folder_trouble_ = error; }
    void disconnected() noexcept;

    // Creates a folder of locks, and with `all` those that lead to it.
    void make_folder(const std::string& queue, bool all, core::slot_id claim, core::time_point now);
    // The server knows no containers: such folders stay.
    void containers_are_unknown() noexcept { has_containers_ = false; }

    void close(core::time_point now);

private:
    wire::request folder(const std::string& path) const;

    session& session_;
    requester& out_;
    const node_paths& paths_;
    const lock_settings& settings_;
    bool soon_ = false, has_containers_ = true, makes_folders_ = false;
    std::int32_t folder_trouble_ = wire::code::ok;
    core::time_point retry_at_ = core::long_ago;
};

} // namespace holdfast::zookeeper_store
