#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::recipes {

// Decides how several locks are acquired together: all or none.
//
// All claims use the same order of members. A claim that waits for a member holds earlier members
// only. So there is no circle of waits, and no deadlock. A claim begins with one attempt for each
// member, all at once, without waiting. What it gets behind the first missing member is given
// back, and that member is waited for. Then the others are attempted again.
//
// Pure: no I/O, no clock. Not thread-safe.
class joint_claim {
public:
    enum class step : std::uint8_t {
        attempt,   // ask for the member, without waiting for others
        wait,      // wait for the member
        give_back, // the member is held, but must not be
        take_all,  // the end: every member is held
        fail,      // the end: no member is held, none is asked for
    };
    struct order {
        step what{};
        std::size_t member = 0; // the cause of a failure: its answer
    };

    // `once`: an attempt for all, without waiting.
    joint_claim(std::size_t members, bool once) : held_(members), once_(once) {}

    // What to do now. To be called at the beginning, and when each attempt or wait of the last
    // orders was answered.
    std::vector<order> next();

    // A member is held from now on.
    void granted(std::size_t member) { held_[member] = true; }
    // A held member was lost meanwhile.
    void lost(std::size_t member) { held_[member] = false; }

private:
    std::size_t first_missing() const;
    std::vector<order> give_up(std::size_t cause);

    std::vector<bool> held_;
    const bool once_;
    bool attempted_ = false; // all that are missing; their answers have come
    std::size_t waited_for_ = none;

    static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

} // namespace holdfast::recipes
