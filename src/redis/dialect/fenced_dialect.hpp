#pragma once

#include "redis/dialect/dialect.hpp"
#include "redis/dialect/fence_answer.hpp"
#include "redis/dialect/fence_clock.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/dialect/fenced_calls.hpp"
#include "redis/dialect/token_supply.hpp"

namespace holdfast::redis {

// Requests locks with a script that gives tokens, and writes the token back to nodes that have
// granted a smaller one: see token_round.hpp and fence_scripts.hpp.
class fenced_dialect final : public dialect {
public:
    // `key_prefix`: of every key.
    fenced_dialect(std::string channel, const fence_settings& settings, node_pool& nodes,
        std::string_view key_prefix = {});

    core::duration longest_ttl() const noexcept override { return settings_.quarantine; }
    bool has_polling_clients() const noexcept override { return false; }

    void begin(claim& c, core::time_point now) override;
    std::optional<std::uint64_t> token_of(const claim& c) override;

    void on_ready(std::size_t node, core::time_point now) override;
    void on_down(std::size_t node) noexcept override { clock_.forget(node); }
    void on_reply(std::size_t node, const request& r, reply answer, core::time_point now) override;

    bool acquires_by_script() const noexcept override { return true; }
    void begin_acquire(const claim& c, bool by_text, core::time_point now) override;
    std::string_view acquire_at(std::size_t node) override;
    std::string_view confirm(
        const claim& c, std::size_t node, bool by_text, core::time_point now) override;
    std::string_view enqueue(
        const claim& c, std::string_view place, bool by_text, core::time_point now) override;
    std::string_view renew(std::span<const claim* const> claims, bool by_text) override;
    std::string_view write_back(
        const claim& c, const token_round::write_back& w, bool by_text) override;

    ballot read_ballot(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now) override;
    place_answer read_place(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now) override;
    write_back_answer read_write_back(std::size_t node, reply answer, claim& c) override;

private:
    fenced_calls::wanted wanted_by(
        const claim& c, bool by_text, core::time_point now) const noexcept;
    void ask_for_record(std::size_t node, core::time_point now);
    void note_stored(const claim& c, const fence_answer& granted, core::time_point now);
    bool is_storable(
        const fence_answer& granted, std::uint64_t block, core::time_point now) const noexcept;
    fence_answer hear(
        std::size_t node, const request& r, reply answer, claim* c, core::time_point now);
    void on_disagreement(std::size_t node, const request& r, core::time_point now);

    const fence_settings settings_;
    node_pool& nodes_;
    fenced_calls calls_;
    fence_clock clock_;
    token_supply supply_;
    std::string command_, counter_;
};

} // namespace holdfast::redis
