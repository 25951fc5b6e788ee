#pragma once

#include "core/connection.hpp"
#include "core/journal.hpp"
#include "core/rotation.hpp"
#include "etcd/channel.hpp"
#include "etcd/failure.hpp"
#include "etcd/member_settings.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace holdfast::etcd_store {

// What the choice of a member reports.
class members_owner {
public:
    virtual void on_up(core::time_point now) = 0;
    // All calls are gone. Those without an answer may have run, or may still run.
    virtual void on_down(core::time_point now) = 0;
    // All members have failed, one after the other; the last one for this reason.
    virtual void on_cut_off(errc why, core::time_point now) = 0;
    virtual void on_arrival(const wire::arrival& what, core::time_point now) = 0;
    virtual void gather_requests() = 0;
    virtual bool has_requests() const noexcept = 0;

protected:
    ~members_owner() = default;
};

// Uses one member of the cluster at a time. When it fails, the next one is tried at once; when all
// have failed, after a pause. Pauses grow, and are random.
class members final : private channel_owner {
public:
    // Both outlive it.
    members(const cluster_settings& settings, members_owner& owner, std::uint64_t jitter_seed);

    std::span<core::connection* const> connections() noexcept { return connections_; }

    bool is_up() const noexcept { return active_ && channels_[rotation_.current()]->is_ready(); }
    // Precondition: is_up().
    channel& current() noexcept { return *channels_[rotation_.current()]; }

    // The present member has failed. Does nothing if none is up.
    void fail(errc why, std::string reason, core::time_point now);
    // Whether a new connection may help against a failure.
    bool can_mend(const failure& f) const noexcept
    {
        return f.helps == failure::remedy::other_member ||
               (f.helps == failure::remedy::login_again && logs_in());
    }
    bool logs_in() const noexcept { return !settings_.user.empty(); }
    // A call has succeeded.
    void note_success() noexcept;
    // Why no member is likely to answer now; none if one may.
    errc cut_off() const noexcept { return is_up() ? errc{} : rotation_.cut_off(); }

    // `heard`: see core::backend_core.
    void wake(core::time_point now, core::time_point heard);
    core::time_point wake_at() const noexcept
    {
        return active_ ? channels_[rotation_.current()]->opening_ends() : rotation_.next_at();
    }
    void close() noexcept;

    // They live as long as other calls are made.
    void report_to(core::journal& observers) noexcept { journal_ = &observers; }
    std::vector<node_stats> stats() const;
    std::string name_of(std::size_t member) const { return settings_.members[member].name; }

private:
    void on_ready(channel& which, core::time_point now) override;
    void on_failed(channel& which, core::time_point now) override;
    void on_arrival(const wire::arrival& what, core::time_point now) override;
    void gather_requests() override { owner_.gather_requests(); }
    bool has_requests() const noexcept override { return owner_.has_requests(); }

    const cluster_settings& settings_;
    members_owner& owner_;
    core::rotation rotation_;
    std::vector<std::unique_ptr<channel>> channels_;
    std::vector<std::unique_ptr<core::connection>> layers_;
    std::vector<core::connection*> connections_;
    bool active_ = false; // the current one is used, or being opened
    bool told_up_ = false;
    core::journal* journal_ = nullptr;
};

} // namespace holdfast::etcd_store
