#pragma once

#include "core/backend.hpp"
#include "core/ring.hpp"
#include "redis/collaborators.hpp"
#include "redis/life_cycle.hpp"

#include <cstddef>
#include <string>

namespace holdfast::redis {

// The user of the sessions: passes what a node says, or its silence, to the collaborator that has
// asked, and the outcome to the life cycle.
class reply_router final : public session_owner {
public:
    // Uses these only from the first call on. `events`: the events for the locker.
    reply_router(collaborators& parts, life_cycle& life, claim_ends& ends,
        core::ring<core::backend_event>& events) noexcept
        : parts_(parts),
          life_(life),
          ends_(ends),
          events_(events)
    {}

    std::string admit(std::size_t node) override;
    void on_ready(std::size_t node, core::time_point now) override;
    void on_push(std::size_t node, reply push, core::time_point now) override;
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now) override;
    void on_redirected(std::size_t node, const request& r, const redirection& where) override;
    bool say_again(std::size_t node, const request& r, core::time_point now) override;
    void on_sent_late(std::size_t node, const request& r, core::time_point now) override;
    void on_orphaned(std::size_t node, const request& r, core::time_point now) override;
    void on_down(std::size_t node, core::time_point now) override;

private:
    void on_key_answer(std::size_t node, const request& r, reply answer, core::time_point now);
    // If a script of the queue answers that it has given us a lease.
    bool take_gift(std::size_t node, const request& r, reply answer, core::time_point now);
    void stray(core::claim_id id) noexcept;
    void on_repaired(std::size_t node, const request& r, vote v, core::time_point now);
    // `answer`: empty if the node is gone.
    void on_probed(std::size_t node, core::claim_id id, reply answer);

    collaborators& parts_;
    life_cycle& life_;
    claim_ends& ends_;
    core::ring<core::backend_event>& events_;
};

} // namespace holdfast::redis
