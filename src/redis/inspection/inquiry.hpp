#pragma once

#include "core/inspection.hpp"
#include "redis/inspection/sighting.hpp"
#include "redis/node/request.hpp"
#include "redis/pool/node_pool.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

// One question of a person to all nodes, and what they have said so far. Only records; sends
// nothing.
//
// First the nodes say what they have (`looking`), then who the owners are (`naming`); to force a
// release, they are then asked to delete (`taking`). A lock may be given on as it is (see
// baton.hpp): only one node knows. So that one is asked before the others (`taking_first`), and if
// the lock has another holder by now, the others are left alone: nobody has told that one.
struct inquiry {
    enum class stage : std::uint8_t { looking, naming, taking_first, taking };

    // The part of one node, in this stage.
    struct part {
        enum class state : std::uint8_t {
            wanted,  // it is not connected yet
            asked,   // its answer is to come
            pausing, // between two steps
            over,
        };
        state now = state::over;
        core::time_point due = core::never; // the end of the wait, or of the pause
        core::time_point asked_at{};
        std::uint64_t identity = 0; // of the server; 0: it is not known
        bool answered = false;      // in the first stage: wholly, and without an error
        sighting seen{};
        std::string cursor = "0";    // of a list
        std::size_t next_client = 0; // index of the first id to ask for
        bool took = false;           // it has answered the request to delete

        void end() noexcept
        {
            now = state::over;
            due = core::never;
        }
    };

    core::inspection_task task{};
    std::uint64_t tag = 0;
    std::string name;        // of the resource, or the prefix
    std::string lock_prefix; // what stands before the resource in the name of its lock
    std::int64_t wall = 0;
    bool fenced = false;
    stage now = stage::looking;
    core::time_point stage_ends = core::never;
    core::time_point ends = core::never; // of the whole
    std::vector<part> parts;             // by node

    // Of a list: by name, a copy for each node.
    std::map<std::string, std::vector<key_copy>> found;
    std::size_t bytes = 0; // of them
    bool left_out = false; // there are more, which are not in `found`
    bool cut_off = false;  // it has ended before all nodes were read

    std::vector<std::uint32_t> ids; // of the lockers that are owners
    told_clients clients;
    forced_release forced;

    bool is_over() const noexcept;
    // Whether this stage is about the node.
    bool asks(std::size_t node) const;
    // Whether an answer of the node to such a request is still wanted.
    bool awaits(std::size_t node, request_kind kind) const noexcept;
    ownership owner() const; // of the resource
    lock_owner named(const ownership& whose) const;
    // See judge().
    std::vector<std::uint64_t> ranks_for(std::string_view resource) const;
    // The node that is asked to hand the lock off to the next in its queue: the one with the
    // longest queue, or any node if none has a queue.
    bool hands_off(std::size_t node) const noexcept;
    // The value that a node is asked to delete: the owner's, or one that has no end. None if there
    // is none.
    std::optional<std::string_view> value_to_take(
        std::size_t node, const ownership& whose) const noexcept;
    // The node that names the holder, or would do so if the lock were given on. None if it is the
    // lock of another client.
    std::optional<std::size_t> node_to_take_first() const;
    // That node has refused: the lock has another holder by now. Precondition: it is held.
    bool has_changed_hands() const;
    // The channel of the owner; empty if it is not known.
    std::string_view channel_of(const ownership& whose) const;
    // The different ids of all owners, up to a limit; the owner of the resource first. To take a
    // lock away, no other is needed.
    void collect_ids();
    // The next of them to ask a node about.
    std::span<const std::uint32_t> next_ids(std::size_t node) const noexcept;
    // None, or the reason of a failure.
    errc trouble() const noexcept;
    // Why a node is not known: see node_report::error.
    void fail(std::size_t node, error_code why);

    // Adds the keys of a step.
    void add(std::size_t node, scan_step&& step);

    // Why a forced release has failed, or none.
    errc trouble_of_release() const;

    resource_report report(const node_pool& nodes) const;
    lock_list list() const;
};

} // namespace holdfast::redis
