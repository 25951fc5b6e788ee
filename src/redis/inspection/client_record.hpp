#pragma once

#include "core/inspection.hpp"
#include "redis/node/request.hpp"
#include "redis/pool/node_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

// What a locker tells about itself.
struct client_settings {
    std::string channel{}, client_name{};
    std::string key_prefix{}; // of every key
    bool fenced = false;
    bool keeps_record = false;
};

// The key of the client record of an id.
std::string client_key(const client_settings& settings, std::uint32_t id);

// Keeps the record of this locker at each node, under an id that no other locker has. Never delays
// anything: a node without the record is as good as any.
//
// The record is written with NX. If the id is taken by another locker, another id is used from then
// on: the records under the old one are deleted. A lease that was granted in between is shown with
// an unknown owner, or with that other locker.
class client_record {
public:
    static constexpr core::duration ttl = std::chrono::seconds(60);
    static constexpr core::duration period = ttl / 3; // of the renewals

    client_record(node_pool& nodes, client_settings settings);

    // In the tokens of this locker, with or without a record. Never 0, except without a channel.
    std::uint32_t id() const noexcept { return id_; }

    // Begins to keep the record, if the settings want one.
    void introduce(const core::client_identity& self, core::time_point now);
    // Deletes it for good.
    void withdraw(core::time_point now);
    // Deletions under way.
    std::size_t under_way() const noexcept { return leaving_; }

    void on_ready(std::size_t node, core::time_point now);
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now);
    void lose_answer(const request& r) noexcept;

    core::time_point wake_at() const noexcept { return renew_at_; }
    void wake(core::time_point now);

private:
    enum class state : std::uint8_t {
        absent,
        written,
        forbidden, // by this connection's user: not asked again
    };

    void choose_id() noexcept;
    void write(std::size_t node, core::time_point now);
    void compare(std::size_t node, core::time_point now);
    void prolong(std::size_t node, core::time_point now);
    void remove(std::size_t node, core::time_point now);
    void change_id(core::time_point now);
    void send(std::size_t node, request_kind kind, core::time_point now);

    node_pool& nodes_;
    const client_settings settings_;
    std::uint32_t id_ = 0;
    unsigned ids_tried_ = 0;
    std::string key_, text_; // no text: no record
    std::array<state, max_nodes> at_{};
    std::size_t leaving_ = 0;
    core::time_point renew_at_ = core::never;
    std::string command_;
};

} // namespace holdfast::redis
