#pragma once

#include "redis/dialect/fence_settings.hpp"
#include "redis/dialect/key_names.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

// The encoded requests that only fenced mode has: see fence_scripts.hpp. Each stays valid until the
// next one; a ballot, until the next ballot.
class fenced_calls {
public:
    // `key_prefix`: of every key.
    explicit fenced_calls(const fence_settings& settings, std::string_view key_prefix = {});

    // The names of the keys of locks in fenced mode.
    static key_forms names(std::string_view key_prefix = {});
    // The key of the registers, and the register of a lock: `hash` is that of the lock's key.
    static std::string registers_of(std::string_view key_prefix);
    static std::size_t register_of(std::uint64_t hash) noexcept;

    const std::string& record() const noexcept { return record_; }
    const std::string& registers() const noexcept { return registers_; }

    // `clock_ms`: our estimate of the time at the nodes.
    std::string_view open(std::string_view run_id, std::int64_t clock_ms);
    std::string_view read_record();
    std::string_view time();
    std::string_view ballot(std::uint64_t hash, std::uint64_t ballot);
    std::string_view largest_ballot(std::uint64_t hash);

private:
    const std::string pause_, agreed_, trust_, record_, registers_, ballot_head_;
    std::string command_, ballot_;
};

} // namespace holdfast::redis
