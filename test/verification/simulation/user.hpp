#pragma once

#include "verification/simulation/process.hpp"

namespace holdfast::simulation {

// A user of locks in a process: acquires, works and releases, and sometimes breaks the rules.
class user final : public user_of_locks {
public:
    user(std::size_t number, surroundings& world, process& where);

    void begin();   // its process has started
    void hurry();   // its work ends soon
    void give_up(); // it does not wait for much longer
    bool idle() const noexcept { return doing_ == state::nothing; }
    unsigned served_in_calm() const noexcept { return served_in_calm_; }
    std::string name() const;

    void on_effect(const core::effect& e) override;

private:
    enum class state : std::uint8_t { nothing, waiting, working, releasing };

    void pause();
    void ask();
    void give_up_waiting();
    void work();
    void write();
    void finish();
    void on_acquired(const core::effect& e);
    void on_wait_ended(const core::effect& e);
    void check_acquire_in_time();
    void check_in_time(
        nanoseconds began, nanoseconds frozen_before, nanoseconds allowed, const char* operation);
    void after(nanoseconds delay, void (user::*step)());

    const std::size_t number_;
    surroundings& world_;
    process& process_;
    state doing_ = state::nothing;
    unsigned step_ = 0; // actions planned for an earlier step are void
    unsigned served_in_calm_ = 0;

    std::string resource_;
    core::lease_params terms_{};
    std::chrono::milliseconds wait_{};
    bool once_ = false;
    process::ticket ticket_;
    core::slot_id lease_ = 0;
    access under_; // for its reads and writes under its lease
    nanoseconds began_{0}, asked_{0}, frozen_before_{0}, extension_began_{-1};
    nanoseconds extension_frozen_before_{0};
    std::uint64_t version_seen_ = 0;
};

} // namespace holdfast::simulation
