#pragma once

#include "etcd/claim_course.hpp"
#include "etcd/lookups.hpp"
#include "etcd/store_answers.hpp"
#include "etcd/store_parts.hpp"

#include <memory>
#include <string>

namespace holdfast::etcd_store {

struct lock_settings {
    cluster_settings cluster;
    std::string key_prefix, client_name;
    core::duration request_timeout{}; // 0: from the ttl
};

// The store of locks in etcd. Implements the seam with its collaborators.
class lock_core final : public core::backend_core {
public:
    lock_core(std::shared_ptr<const lock_settings> settings, std::uint64_t jitter_seed);

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& terms,
        core::time_point now) override;
    void abandon(core::claim_id id, core::time_point now) override;
    errc pending_error(core::claim_id id) const noexcept override;
    bool can_transfer(core::claim_id id) const noexcept override;
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void release(core::claim_id id, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override
    {
        return course_.patience(ttl);
    }

    std::optional<core::backend_event> next_event() override { return course_.next_event(); }
    core::time_point wake_at() const noexcept override;
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::connection* const> connections() noexcept override
    {
        return members_.connections();
    }
    void close(core::time_point now) override;
    const core::store_info& about() const noexcept override { return info_; }
    core::remote_queue& queue() noexcept override { return parts_.queue; }
    core::store_nodes& nodes() noexcept override { return parts_.nodes; }
    core::store_cleanup& cleanup() noexcept override { return parts_.end; }
    core::inspector* inspection() noexcept override { return &lookups_; }

private:
    core::time_point answer_due() const noexcept;

    const core::store_info info_{.name = "etcd", .promise = guarantee::consensus};
    const std::shared_ptr<const lock_settings> settings_;
    claim_table claims_;
    call_book calls_;
    store_history history_;
    watches watches_;
    store_answers answers_;
    members members_;
    session_keeper sessions_;
    claim_desk desk_;
    claim_course course_;
    lookups lookups_;
    store_parts parts_;
};

} // namespace holdfast::etcd_store
