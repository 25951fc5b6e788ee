#pragma once

#include "redis/dialect/dialect.hpp"
#include "redis/dialect/fence_clock.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/dialect/fence_trouble.hpp"
#include "redis/dialect/fenced_calls.hpp"

#include <array>
#include <vector>

namespace holdfast::redis {

// Chooses the ballots of claims, and knows which nodes may accept them: see ballot_round.hpp and
// fence_scripts.hpp.
class fenced_dialect final : public dialect {
public:
    // `key_prefix`: of every key.
    fenced_dialect(std::string channel, const fence_settings& settings, node_pool& nodes,
        std::string_view key_prefix = {});

    core::duration longest_ttl() const noexcept override { return settings_.quarantine; }
    bool has_polling_clients() const noexcept override { return false; }

    void begin(claim& c) override { c.round.begin_fence(c.keys.size()); }
    std::optional<std::uint64_t> token_of(claim& c) override;

    void on_ready(std::size_t node, core::time_point now) override;
    void on_down(std::size_t node) noexcept override;
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now) override;
    core::time_point wake_at() const noexcept override { return due_; }
    void wake(core::time_point now) override;

    errc refuses(std::size_t node, claim& c, core::time_point now) override;
    errc refuses_without_ballot(std::size_t node, claim& c, core::time_point now) override;
    bool choose_ballot(claim& c, core::time_point now) override;
    std::string_view ballot(const claim& c) override
    {
        return calls_.ballot(c.hash, c.round.ballots().ballot());
    }
    std::string_view largest_ballot(const claim& c) override
    {
        return calls_.largest_ballot(c.hash);
    }
    ballot_reply read_ballot(
        std::size_t node, reply answer, claim* c, core::time_point now) override;
    errc read_largest(std::size_t node, reply answer, claim* c, core::time_point now) override;

private:
    struct member {
        bool opened = false, opening = false, quarantined = false;
        fence_trouble trouble = fence_trouble::none; // why it is not open, if that is known
        errc why{};                                  // the same
        core::time_point asked = core::long_ago;     // when it was last opened
        core::time_point clock_asked = core::long_ago;
    };

    bool is_far(std::int64_t over_ms) const noexcept;
    void open(std::size_t node, core::time_point now);
    void ask_for_record(std::size_t node, core::time_point now);
    void sample_clock(std::size_t node, core::time_point now);
    void end_quarantine(std::size_t node);
    void on_opened(std::size_t node, reply answer, core::time_point now);
    void note_clock(
        std::size_t node, std::int64_t us, core::time_point asked, core::time_point heard);
    void note_trouble(
        std::size_t node, claim* c, fence_trouble trouble, std::int64_t left, std::string_view key);
    bool in_quarantine(std::size_t node, claim& c, core::time_point now);

    const fence_settings settings_;
    node_pool& nodes_;
    fenced_calls calls_;
    fence_clock clock_;
    std::array<member, max_nodes> members_{};
    std::vector<std::uint64_t> used_;    // the last ballot here, by a part of the resource's hash
    core::time_point due_ = core::never; // to ask for clocks, or to see the end of a quarantine
};

} // namespace holdfast::redis
