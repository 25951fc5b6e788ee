#pragma once

#include "core/backend.hpp"
#include "redis/claim/claim_round.hpp"
#include "redis/claim/node_keys.hpp"
#include "redis/claim/queue_place.hpp"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

enum class claim_stage : std::uint8_t {
    queued,    // waits for its turn at its queue_node
    asking,    // the round is open
    held,      // granted
    releasing, // being deleted, the locker waits for the outcome
    cleaning,  // being deleted, the outcome is not waited for
};

// One attempt, and the lease that comes of it, over all nodes. Only records; sends no requests.
class claim {
public:
    // Resets a used object for a new attempt; keeps its memory. In fenced mode, round.begin_fence()
    // follows.
    void begin(std::uint64_t tag, std::string_view lock, const core::owner_token& token,
        const core::claim_params& params, std::size_t nodes);

    // A SET was queued for a node at `now`.
    void sent(std::size_t node, core::time_point now) noexcept
    {
        round.ask_for_key(node);
        keys.sent(node, now + params.ttl);
    }
    // The answer of a node to the SET of the round that was queued at `asked`, however late:
    // granted, or something else; `failed` for a node that cannot be asked. `why`: the reason if it
    // has neither granted nor refused, if known.
    void granted(std::size_t node, core::time_point asked);
    void not_granted(std::size_t node, vote v, errc why = {}) noexcept;
    // A node cannot say whether it has the key that it was to confirm: it may have it.
    void not_confirmed(std::size_t node, errc why) noexcept;
    // In fenced mode, after a change of the ballots: only nodes that count are `ours`.
    void weigh() noexcept;
    // A request that was queued at `asked` has found our key missing: the node does not count any
    // more. If the key cannot have run out, the node has forgotten it: then whatever it grants
    // until the key's end proves nothing either.
    void missing(std::size_t node, core::time_point asked) noexcept;
    // A renewal that was queued at `asked` was confirmed.
    void renewed(std::size_t node, core::time_point asked, core::time_point now) noexcept;
    // A key that was missing is there again: a SET or a renewal that was queued at `asked` shows
    // it. The node counts as a spare one, if the lease has a majority without it. (That there was
    // one all the time is the locker's matter: a lease that was over once is lost, see
    // core::lease_keeper.) In fenced mode, it has to accept a ballot first.
    void set_again(std::size_t node, core::time_point asked, core::time_point now) noexcept;

    // Transfers it to another holder in this process. In fenced mode, returns the holder's token.
    // Precondition: round.can_transfer().
    std::optional<std::uint64_t> transfer(std::uint64_t new_tag) noexcept
    {
        tag = new_tag;
        return round.transfer();
    }

    // An answer has come to a request that has set or renewed a key.
    void note_end(core::time_point now) noexcept;
    // No answer will come to a request about the key, or none that says anything: an answer of the
    // wrong type may be that to another request.
    void stray() noexcept
    {
        if (queue.ticket)
            queue.ticket->strayed = true;
    }
    // The lease of another client is ours since a node has given us its baton. Precondition: the
    // claim waits in a queue.
    void take_over(std::size_t node, const baton& given, core::time_point now);
    // The lease belongs to another client: nothing of the keys is ours.
    void relinquish() noexcept;
    const custody* came_by_baton() const noexcept
    {
        return queue.ticket && queue.ticket->baton ? &*queue.ticket->baton : nullptr;
    }
    // The token of its entries in queues.
    const core::owner_token& place() const noexcept
    {
        const custody* const b = came_by_baton();
        return b != nullptr ? b->place : token;
    }
    // The value of its key at a node.
    std::string_view value_at(std::size_t node) const noexcept
    {
        const custody* const b = came_by_baton();
        return b != nullptr && b->node == node ? std::string_view(b->value) : token.view();
    }
    // Its release ends so much later than `now` at the latest, if it has been in a queue.
    void release_within(core::duration time, core::time_point now) noexcept
    {
        if (queue.ticket) {
            queue.ticket->release_left = time;
            queue.ticket->release_ends = now + time;
        }
    }
    // How the release by a baton stands.
    queue_ticket::passing gives() const noexcept
    {
        return queue.ticket ? queue.ticket->gives : queue_ticket::passing::no;
    }
    // The node that was asked to give it, or max_nodes.
    std::size_t gave_at() const noexcept
    {
        return queue.ticket ? queue.ticket->gave_at : max_nodes;
    }

    // A validity, as it is reported.
    core::validity validity_until(core::time_point until) const noexcept
    {
        return {.asked = until - (params.ttl - params.drift), .ttl = params.ttl, .until = until};
    }
    // Whether a vote still counts: for the round, or as a spare node of the lease.
    bool is_open() const noexcept
    {
        return stage == claim_stage::asking || stage == claim_stage::held;
    }

    // Whether answers about its keys still count: it is held, or may yet be given as it is.
    bool is_kept() const noexcept
    {
        return stage == claim_stage::held || gives() == queue_ticket::passing::waits;
    }
    // Whether an answer to a request of its round counts for one of these.
    bool wants_answers() const noexcept { return stage == claim_stage::asking || is_kept(); }

    std::string lock; // the name of its key: in plain mode the resource
    core::owner_token token{};
    core::claim_params params{};
    std::uint64_t tag = 0;
    std::uint64_t hash = 0; // of that name
    node_keys keys;
    claim_round round;
    queue_place queue;
    core::time_point round_began{};
    core::time_point asked_again_at = core::never; // the nodes that have refused
    core::time_point reported = core::long_ago;    // the validity that was reported to the locker
    claim_stage stage = claim_stage::asking;       // written only by life_cycle
    std::bitset<max_nodes> late; // nodes to which requests that decide this stage were sent late
    bool window_due = false;     // for polling clients, by the turns of this process
    bool taken_away = false;     // by an operator: others may have it
    waiter_look look;

private:
    // The end of a grant or a renewal whose request was queued at `asked`.
    core::time_point end_of(core::time_point asked) const noexcept;
};

} // namespace holdfast::redis
