#pragma once

#include "core/backend.hpp"
#include "sql/answers.hpp"
#include "sql/claim_table.hpp"
#include "sql/course.hpp"
#include "sql/database.hpp"
#include "sql/desk.hpp"
#include "sql/lookups.hpp"

#include <memory>
#include <optional>

namespace holdfast::sql {

struct lock_settings {
    core::store_info about{};
    core::duration request_timeout{}; // 0: from the ttl
};

// The store of locks in a table of a database. Implements the seam with its collaborators.
class lock_core final : public core::backend_core {
public:
    lock_core(
        const lock_settings& settings, std::unique_ptr<database> server, std::uint64_t jitter_seed);

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
        return desk_.patience(ttl);
    }

    std::optional<core::backend_event> next_event() override { return course_.next_event(); }
    core::time_point wake_at() const noexcept override;
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::descriptor* const> descriptors() noexcept override
    {
        return database_->descriptors();
    }
    void close(core::time_point now) override { database_->close(now); }
    const core::store_info& about() const noexcept override { return info_; }
    core::remote_queue& queue() noexcept override { return queue_; }
    core::store_nodes& nodes() noexcept override { return nodes_; }
    core::store_cleanup& cleanup() noexcept override { return cleanup_; }
    core::inspector* inspection() noexcept override { return &lookups_; }

private:
    // The queue is in the table. Its order is kept there, so nobody needs a window.
    class table_queue final : public core::remote_queue {
    public:
        table_queue(const claim_table& claims, course& decisions) noexcept
            : claims_(claims),
              course_(decisions)
        {}

        bool is_usable() const noexcept override { return true; }
        void report_waiters(core::claim_id id, core::time_point) override
        {
            if (claims_.find(id) != nullptr)
                course_.report_others(id);
        }
        bool reports_waiters(core::claim_id id) const noexcept override
        {
            const claim* const c = claims_.find(id);
            return c != nullptr && c->reports_others;
        }

    private:
        const claim_table& claims_;
        course& course_;
    };

    class servers final : public core::store_nodes {
    public:
        explicit servers(database& of) noexcept : database_(of) {}

        errc cut_off() const noexcept override { return database_.cut_off(); }
        std::vector<node_stats> stats() const override { return database_.stats(); }
        std::string name(std::size_t node) const override { return database_.name_of(node); }
        void report_to(core::journal& observers) noexcept override
        {
            database_.report_to(observers);
        }

    private:
        database& database_;
    };

    // At the end of a locker, rows are given back. Those that are to stay end by themselves.
    class last_steps final : public core::store_cleanup {
    public:
        explicit last_steps(claim_table& claims) noexcept : claims_(claims) {}

        void leave(core::claim_id id) override
        {
            claims_.forget_name(claims_[id]);
            claims_.give_back(id);
        }
        std::size_t under_way() const noexcept override { return claims_.size(); }

    private:
        claim_table& claims_;
    };

    const core::store_info info_;
    const std::unique_ptr<database> database_;
    claim_table claims_;
    desk desk_;
    course course_;
    lookups lookups_;
    answers answers_;
    table_queue queue_;
    servers nodes_;
    last_steps cleanup_;
};

} // namespace holdfast::sql
