#include "zookeeper/session_keeper.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_store {

using core::time_point;
using kind = request::kind;

void session_keeper::serve(time_point now)
{
    if (next_at() > now)
        return;
    const std::string proof = paths_.proof_of(session_.id());
    if (session_.has_proof()) {
        out_.send(kind::heartbeat, 0,
            {.what = wire::operation::set_data, .path = proof, .data = settings_.client_name}, now);
    } else {
        if (std::exchange(makes_folders_, false)) {
            folder_trouble_ = wire::code::ok;
            for (const std::string& each : paths_.folders())
                out_.send(kind::folder, 0, folder(each), now);
        }
        out_.send(kind::proof, 0,
            {.what = wire::operation::create,
                .path = proof,
                .data = settings_.client_name,
                .rights = settings_.rights,
                .mode = wire::node_mode::ephemeral},
            now);
    }
    session_.kept().sent(now);
}

session_keeper::outcome session_keeper::answered(
    const request& r, std::int32_t error, time_point now)
{
    const bool creates = r.what == kind::proof;
    if (error == wire::code::ok || (creates && error == wire::code::node_exists)) {
        session_.proof_exists(true);
        return {.works = true, .confirmed = session_.confirm(now)};
    }
    session_.kept().failed();
    session_.proof_exists(false);
    if (error != wire::code::no_node) {
        retry_at_ = now + session_.timeout() / 8;
        return {.trouble = error};
    }
    if (!creates) // somebody has deleted it
        return {};
    if (folder_trouble_ != wire::code::ok) {
        retry_at_ = now + session_.timeout() / 8;
        return {.trouble = std::exchange(folder_trouble_, wire::code::ok)};
    }
    makes_folders_ = true;
    return {};
}

void session_keeper::disconnected() noexcept
{
    session_.disconnected();
    makes_folders_ = false;
    folder_trouble_ = wire::code::ok;
    retry_at_ = core::long_ago;
}

// The server removes a container some time after it has become empty.
wire::request session_keeper::folder(const std::string& path) const
{
    const bool container = has_containers_;
    return {.what = container ? wire::operation::create_container : wire::operation::create,
        .path = path,
        .rights = settings_.rights,
        .mode = container ? wire::node_mode::container : wire::node_mode::persistent};
}

void session_keeper::make_folder(
    const std::string& queue, bool all, core::slot_id claim, time_point now)
{
    if (all) {
        for (const std::string& each : paths_.folders())
            out_.send(kind::folder, 0, folder(each), now);
    }
    out_.send(kind::last_folder, claim, folder(queue), now);
}

void session_keeper::close(time_point now)
{
    out_.send(kind::close_session, 0, {.what = wire::operation::close_session}, now);
}

} // namespace holdfast::zookeeper_store
