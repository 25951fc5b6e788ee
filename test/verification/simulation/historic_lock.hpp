#pragma once

#include "core/ring.hpp"
#include "verification/simulation/historic_connection.hpp"
#include "verification/simulation/subject.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::simulation {

// The part in which historic locks differ: the commands that take the lock and that release it.
// These defaults are correct on one node that forgets nothing, so the referee catches only the
// flaws that an override adds.
class historic_protocol {
public:
    using answer = historic_connection::answer;
    using taken = std::function<void(bool, core::time_point now)>;

    virtual ~historic_protocol() = default;

    virtual std::string token(core::entropy& random, core::time_point now);
    virtual void take(historic_connection& node, const std::string& key, const std::string& token,
        std::int64_t ttl, core::time_point now, taken then);
    virtual void give_back(
        historic_connection& node, const std::string& key, const std::string& token);
};

// Everything else, done correctly: validity counts from before the request and allows for drift,
// the work is told to stop in time, and a lock that may have been taken is released.
class historic_lock final : public subject {
public:
    historic_lock(const subject_settings& settings, std::unique_ptr<historic_protocol> how);

    core::slot_id acquire(std::uint64_t tag, std::string_view resource,
        const core::lease_params& terms, std::chrono::milliseconds wait, bool once,
        core::time_point now) override;
    bool cancel(core::slot_id wait, bool only_if_unsent, core::time_point now) override;
    bool release(core::slot_id lease, std::uint64_t tag, core::time_point now) override;
    void drop(core::slot_id lease, core::time_point now) override;
    errc extend(core::slot_id, core::time_point) override { return errc::unreachable; }
    bool held(core::slot_id lease, core::time_point now) override;
    core::time_point valid_until(core::slot_id lease) override;
    void close(core::time_point) override { closing_ = true; }

    void wake(core::time_point now, core::time_point heard) override;
    core::time_point wake_at() const override;
    std::optional<core::effect> next_effect() override;
    std::span<core::connection* const> connections() override { return connections_; }
    core::duration patience(core::duration) const override { return std::chrono::seconds(10); }

private:
    struct waiting {
        std::uint64_t tag = 0;
        std::string key;
        core::lease_params terms{};
        core::time_point ends{}, next{};
        bool single = false, quiet = false, asking = false;
    };
    struct holding {
        std::string key, token;
        core::time_point until{};
        core::duration guard{};
        bool told = false;
    };
    struct debt {
        std::string key, token;
    };

    void owe(const std::string& key, const std::string& token);
    void look_after_waits(core::time_point now);
    void ask(core::slot_id wait, core::time_point now);
    void answered(core::slot_id wait, const std::string& token, core::time_point asked, bool taken,
        core::time_point now);

    core::entropy& random_;
    std::unique_ptr<historic_protocol> how_;
    historic_connection node_;
    std::array<core::connection*, 1> connections_{&node_};
    std::map<core::slot_id, waiting> waits_;
    std::map<core::slot_id, holding> leases_;
    std::vector<debt> debts_; // to be released when there is a connection
    core::ring<core::effect> effects_;
    core::slot_id last_id_ = 0;
    bool closing_ = false, closed_ = false;
};

} // namespace holdfast::simulation
