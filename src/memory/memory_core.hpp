#pragma once

#include "core/backend.hpp"
#include "core/ring.hpp"
#include "core/slot_map.hpp"
#include "memory/store.hpp"

#include <deque>
#include <memory>
#include <string>

namespace holdfast::in_process {

// A backend that answers at once and never fails.
class memory_core final : public core::backend_core,
                          private core::store_cleanup,
                          private core::inspector {
public:
    explicit memory_core(std::shared_ptr<store> keys)
        : keys_(std::move(keys)),
          id_(keys_->new_client())
    {}
    ~memory_core() override { keys_->forget_client(id_); }

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
    const core::store_info& about() const noexcept override { return info_; }
    core::store_cleanup& cleanup() noexcept override { return *this; }
    core::inspector* inspection() noexcept override { return this; }

private:
    // core::store_cleanup
    void wind_up(core::time_point) override { keys_->forget_client(id_); }
    // core::inspector
    std::uint32_t client_id() const noexcept override { return id_; }
    void introduce(const core::client_identity& self, core::time_point now) override;
    void begin(const core::inspection_request& request, core::time_point now) override;
    void forget(std::uint64_t tag) override;
    std::optional<core::inspection_result> next_result() override;

    struct claim {
        std::string resource;
        core::owner_token token{};
        core::claim_params terms{};
        std::uint64_t tag = 0;
    };

    forced_release take_away(std::string_view resource, core::time_point now);

    const core::store_info info_{.name = "memory", .promise = guarantee::process};
    const std::shared_ptr<store> keys_;
    const std::uint32_t id_;
    core::slot_map<claim> claims_;
    core::ring<core::backend_event> events_;
    std::deque<core::inspection_result> results_;
};

} // namespace holdfast::in_process
