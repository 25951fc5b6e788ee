#pragma once

#include "core/backend.hpp"
#include "core/ring.hpp"
#include "core/slot_map.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace holdfast::in_process {

// The keys, shared by all lockers that use copies of one backend.
class store {
public:
    // None if the resource is held at `now`; otherwise the fencing token.
    std::optional<std::uint64_t> grant(std::string_view resource, const core::owner_token& token,
        core::time_point until, core::time_point now);
    // The fencing token for the next holder after a transfer.
    std::uint64_t next_token();
    bool renew(std::string_view resource, const core::owner_token& token, core::time_point until,
        core::time_point now);
    bool remove(std::string_view resource, const core::owner_token& token, core::time_point now);
    core::time_point free_at(std::string_view resource);

private:
    struct held_key {
        core::owner_token owner{};
        core::time_point until{};
    };
    held_key* find_owned(
        std::string_view resource, const core::owner_token& token, core::time_point now);

    std::mutex mutex_;
    std::unordered_map<std::string, held_key> keys_;
    std::uint64_t last_token_ = 0;
    std::size_t sweep_at_ = 64;
};

// A backend that answers at once and never fails.
class memory_core final : public core::backend_core {
public:
    explicit memory_core(std::shared_ptr<store> keys) : keys_(std::move(keys)) {}

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& terms,
        core::time_point now) override;
    // Attempts end at once, so there is none to give up.
    void abandon(core::claim_id, core::time_point) override {}
    errc pending_error(core::claim_id) const noexcept override { return errc::contended; }
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void release(core::claim_id id, core::time_point now) override;
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override { return ttl / 20; }

    std::optional<core::backend_event> next_event() override;
    core::time_point wake_at() const noexcept override { return core::never; }
    using backend_core::wake;
    void wake(core::time_point, core::time_point) override {}
    void close(core::time_point) override {}
    std::vector<node_stats> nodes() const override { return {}; }

private:
    struct claim {
        std::string resource;
        core::owner_token token{};
        core::claim_params terms{};
        std::uint64_t tag = 0;
    };

    std::shared_ptr<store> keys_;
    core::slot_map<claim> claims_;
    core::ring<core::backend_event> events_;
};

} // namespace holdfast::in_process
