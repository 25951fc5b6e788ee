#pragma once

#include "core/timer_queue.hpp"
#include "redis/claim_table.hpp"
#include "redis/dialect.hpp"
#include "redis/node_pool.hpp"

#include <optional>

namespace holdfast::redis {

// Opens the rounds of attempts, hears their votes, and judges them. It asks nodes again that refuse
// although the queue node has handed over, and writes the token back to nodes that have granted a
// smaller one.
class acquisition {
public:
    acquisition(claim_table& claims, node_pool& nodes, dialect& d) noexcept
        : claims_(claims),
          nodes_(nodes),
          dialect_(d)
    {}

    // Asks all nodes at once: but the queue node, if it has handed its key over.
    void open(core::claim_id id, core::time_point now);
    // Sets the end of a round: a node timeout after its last request has left, once a majority has
    // been asked.
    void limit(core::claim_id id, core::time_point now);
    // Asks a node that can be asked now, if an attempt or a lease still waits for it. True if so.
    bool ask_unsent(core::claim_id id, std::size_t node, core::time_point now);
    // The node cannot be asked. True if an attempt or a lease waited for it.
    bool give_up_unsent(core::claim_id id, std::size_t node);
    // Nothing more is asked for this claim; it is forgotten.
    void give_up(core::claim_id id);
    void forget(core::claim_id id) noexcept { asked_again_.erase(core::slot_index(id)); }

    // Asks a node for what it has handed over to us.
    void confirm(core::claim_id id, std::size_t node, bool by_text, core::time_point now);

    // Sends a request again with its script in full, if the claim is still open.
    bool say_again(std::size_t node, const request& r, core::time_point now);

    // Enters a vote into the books. False if it changes nothing, or if what follows will tell.
    bool record(std::size_t node, core::claim_id id, const ballot& b, core::time_point asked,
        core::time_point now);
    // What a node has not got for us to confirm, although it had granted it, has been lost since.
    // True if that is so; then it is in the books.
    bool finds_missing(std::size_t node, core::claim_id id);

    // The answer to a write-back. None if the claim is not open any more.
    std::optional<write_back_answer> on_written_back(
        std::size_t node, const request& r, reply answer, core::time_point now);
    // There will be none.
    bool lose_write_back(std::size_t node, core::claim_id id);

    // The time of a round is up: whoever is silent has no vote.
    void time_out(core::claim_id id);

    // What the votes of an attempt amount to.
    struct outcome {
        enum class kind : std::uint8_t { open, granted, refused };
        kind is = kind::open;
        errc reason{};
        bool transient = false; // the reason mends itself with time
        core::time_point valid_until{};
    };
    outcome judge(core::claim_id id, core::time_point now) const;
    // Why it has no majority, if it were given up now.
    outcome why_unreachable(const claim& c) const noexcept;

    // The next claim some of whose nodes were to be asked again by now, and have been.
    std::optional<core::claim_id> ask_again(core::time_point now);
    core::time_point wake_at() const noexcept { return asked_again_.earliest(); }

private:
    void ask(core::claim_id id, std::size_t node, core::time_point now, bool by_text = false);
    bool asks_again(std::size_t node, core::claim_id id, core::time_point now);
    void write_back_where_due(core::claim_id id, core::time_point now);
    void write_back(
        core::claim_id id, const token_round::write_back& w, bool by_text, core::time_point now);

    claim_table& claims_;
    node_pool& nodes_;
    dialect& dialect_;
    core::timer_queue asked_again_; // nodes that have refused a claim
};

} // namespace holdfast::redis
