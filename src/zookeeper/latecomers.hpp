#pragma once

#include "core/time.hpp"
#include "zookeeper/requester.hpp"
#include "zookeeper/wire/messages.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::zookeeper_store {

// Nodes that may exist, although nobody wants them: the connection was lost before the request for
// such a node was answered. It may have been carried out, and a server that was slow may still
// carry it out after the session has come back. So the folder is looked at several times, further
// and further apart. A name is never used again, so whatever has it is to be deleted.
class latecomers {
public:
    // It outlives it.
    explicit latecomers(requester& out) noexcept : out_(out) {}

    // A node with this beginning of its name may exist in this folder.
    void add(const std::string& queue, std::string prefix);
    // The session has ended, and all its nodes with it.
    void clear() noexcept;

    core::time_point wake_at() const noexcept
    {
        return due_.empty() || !out_.can_send() ? core::never : due_.begin()->first;
    }
    void wake(core::time_point now);
    void listed(const request& r, const std::vector<std::string>& names, core::time_point now);
    // Its requests are lost: they are to be sent again.
    void disconnected();

    std::size_t count() const noexcept { return all_.size(); }

private:
    // Between the looks. A server that has stood still for longer has lost its session.
    static constexpr std::array<int, 7> pauses_s{1, 2, 4, 8, 15, 30, 60};

    struct suspect {
        std::string queue, prefix;
        std::size_t looks = 0;
    };

    void look(core::slot_id id, core::time_point now);

    requester& out_;
    core::slot_id last_id_ = 0;
    std::unordered_map<core::slot_id, suspect> all_;
    std::multimap<core::time_point, core::slot_id> due_; // those that are not being looked at
};

} // namespace holdfast::zookeeper_store
