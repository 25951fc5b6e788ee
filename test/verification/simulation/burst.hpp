#pragma once

#include "verification/simulation/process.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::simulation {

// Acquires one lock on a name that no other user wants, holds it for a while, and releases it.
class sole_user final : public user_of_locks {
public:
    sole_user(surroundings& world, process& where, std::string name)
        : world_(world),
          process_(where),
          name_(std::move(name))
    {}

    void ask(std::chrono::milliseconds wait, nanoseconds hold); // negative: until `finish()`
    void finish();

    bool holds() const noexcept { return doing_ == state::holding; }
    bool granted() const noexcept { return granted_; }
    bool over() const noexcept { return doing_ == state::done; }
    nanoseconds waited() const noexcept { return waited_; }

    void on_effect(const core::effect& e) override;

private:
    enum class state : std::uint8_t { nothing, waiting, holding, releasing, done };

    surroundings& world_;
    process& process_;
    const std::string name_;
    state doing_ = state::nothing;
    bool granted_ = false;
    core::slot_id lease_ = 0;
    nanoseconds asked_{0}, waited_{0}, hold_{0};
};

// The users of a burst, and the users that hold a lease throughout it.
class crowd {
public:
    crowd(surroundings& world, std::vector<std::unique_ptr<process>>& processes)
        : world_(world),
          processes_(processes)
    {}

    void take_what_is_kept();
    void rush();
    void probe(); // a few more attempts after the burst
    void give_back_what_is_kept();

    bool keeps_everything() const;
    bool is_over() const; // every attempt of the burst has ended
    bool gave_back() const;
    // Judges whether enough attempts were granted, and in time.
    void judge_rush();
    void judge_probe();

    struct figures {
        std::size_t attempts = 0, granted = 0;
        // The time until the last grant, as a multiple of the work; 0 if waits were short enough
        // for some to end without a grant.
        double times_the_work = 0;
    };
    const figures& counted() const noexcept { return figures_; }

private:
    using users = std::vector<std::unique_ptr<sole_user>>;

    sole_user& add(users& to, std::size_t process, const std::string& name);

    surroundings& world_;
    std::vector<std::unique_ptr<process>>& processes_;
    users rushing_, probing_, keeping_;
    nanoseconds began_{0};
    mutable std::size_t first_not_over_ = 0;
    figures figures_;
};

} // namespace holdfast::simulation
