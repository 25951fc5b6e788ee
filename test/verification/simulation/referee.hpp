#pragma once

#include "core/slot_map.hpp"
#include "support/history.hpp"
#include "support/redis_model.hpp"
#include "verification/simulation/schedule.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace holdfast::simulation {

// The properties that must hold, with the numbers of the table in docs/verification.md.
enum class property : std::uint8_t {
    exclusion,  // P1: no two leases on one resource are valid at once
    tokens,     // P2: tokens of a resource are unique; a lease asked for later has a larger one
    register_,  // P3: work under a lease loses no update of the protected data
    notice,     // P4: work is told to stop before another lease is acquired; a loss is final
    clean_up,   // P5: no key is left, at once without faults, after a ttl in any case
    progress,   // P6: after the last fault every user acquires
    steadiness, // P7: no lease is lost while a majority is well
    data_loss,  // P8: P1 and P2 in worlds in which nodes forgot data
    operations, // P9: every operation ends once, in time; nothing stays open
    goodput,    // P10: a burst is served about as fast as the work allows, and leaves no backlog
    rest,       // P11: no other lease is acquired before `min_hold` is over
};
std::string_view name_of(property p) noexcept;

std::string in_ms(nanoseconds t);

struct violation {
    property of{};
    nanoseconds when{};
    std::string text;
};

// The assumptions that hold in a world in spite of its faults. Properties that need other
// assumptions are not judged.
struct assumptions {
    bool clocks_run_right = true;  // no server's clock is set forward
    bool nodes_remember = true;    // a node that forgets data was down for longer than any lease
    bool nodes_forget = false;     // nodes forget data in that way
    bool majority_is_well = false; // all the time: only a minority has faults
    bool nodes_are_fast = true;    // no node answers late without a fault
    bool nothing_is_late = false;  // bytes arrive soon or never: no key appears after its deletion
    bool fenced = false;           // leases have tokens
};

// A use of the protected register under a lease.
struct access {
    std::size_t process = 0;
    nanoseconds asked{}, given{}; // the lease: when it was asked for, and acquired
    std::optional<std::uint64_t> token{};
    bool held = true; // as far as its process knows
};

// Sees all events at their true times and reports violations. Knows nothing about how the locks
// work.
class referee {
public:
    explicit referee(schedule& time) : time_(time) {}

    void assume(const assumptions& a) { given_ = a; }
    void fail(property p, std::string text);

    // Leases. `until`: the time from which the holding process would find the lease not held.
    struct lease_params {
        std::string resource;
        std::size_t process = 0;
        nanoseconds asked{}, nodes_asked{}; // when the process, and the nodes, were asked for it
        nanoseconds decided{}; // when the nodes were asked last before it, or its turn came
        std::optional<std::uint64_t> token{};
        nanoseconds guard{}, until{};
        bool renews = true; // for as long as it is held
        nanoseconds min_hold{};
    };
    void acquired(std::uint64_t lease, lease_params terms);
    void valid_until(std::uint64_t lease, nanoseconds until); // after each step of the process
    // `by_choice`: its own process asks for that, because it ends.
    void told_to_stop(std::uint64_t lease, bool by_choice = false);
    void given_up(std::uint64_t lease); // released, dropped, or gone with its process

    // A process cannot notice anything until this time.
    void excuse(std::size_t process, nanoseconds until) { excused_until_[process] = until; }

    // A process with much other work does due work late, by at most this much.
    void late(std::size_t process, nanoseconds by) { late_by_[process] = by; }

    // The protected register. `read` returns its version; `write` reports a violation if the
    // version has changed since. A write with a smaller token than an earlier access is refused.
    std::uint64_t read(const std::string& resource, const access& who);
    void write(const std::string& resource, std::uint64_t version_seen, const access& who);
    std::uint64_t refused_writes() const noexcept { return refused_writes_; }

    // A key on a node has changed; null: it is gone. True if it is there now and was not before.
    // `in_passing`: a queue or an accident removed the key, so its owner has not deleted it.
    bool key_changed(std::size_t node, const std::string& key, const test::redis_model::item* item,
        test::redis_model::time wall, bool in_passing);
    // The owner of this value has asked the node to release the key.
    void given_back(std::size_t node, const std::string& key, std::string_view value);
    // A node has restarted with these keys.
    void keys_restored(std::size_t node, const test::redis_model::data& contents);
    // There are no faults from now on.
    void calm_begins() { calm_since_ = time_.now(); }
    bool calm() const noexcept { return time_.now() >= calm_since_; }
    nanoseconds calm_since() const noexcept { return calm_since_; }
    // All users are idle: keys of locks that were set or renewed since then must have been deleted.
    void check_cleaned_up(nanoseconds since);
    // All connections are back: keys that no process holds must have been deleted, except young
    // ones.
    void check_cleaned_up_after_cuts(nanoseconds young);

    // At the end: closes all leases and checks their history for overlaps.
    void conclude();

    const std::vector<violation>& violations() const noexcept { return violations_; }
    std::size_t leases() const noexcept { return history_.size() + open_.size(); }

private:
    struct open_lease {
        lease_params terms;
        nanoseconds from{};
        nanoseconds updated{}, until_before{}; // when `until` last changed, and its value before
        bool told = false, over = false;
    };
    struct seen_key {
        std::string value;
        nanoseconds changed{};
        std::optional<test::redis_model::time> ends{};
        bool there = false;
        bool queue = false;            // a queue of waiters for another key
        std::set<std::string> deleted; // earlier values that their owners have deleted
    };

    struct protected_register {
        std::uint64_t version = 0, largest_token = 0;
        nanoseconds last_asked{-1}; // the latest time at which a writer asked for its lease
    };
    struct token {
        std::uint64_t number = 0, largest = 0; // of it and all before it
        nanoseconds given{};
        nanoseconds asked{}; // when nodes were asked for it, or for an earlier token of its ballot
    };

    struct granted_tokens {
        std::vector<token> all{}; // in the order of the grants
        std::unordered_set<std::uint64_t> numbers{};
    };

    // A lease that ended before `min_hold` was over: the resource rests from then on.
    struct resting {
        std::string resource;
        std::uint64_t lease = 0;
        nanoseconds from{}, until{};
    };

    bool judged() const noexcept { return given_.clocks_run_right && given_.nodes_remember; }
    void check_token(const lease_params& lease);
    bool excused(std::size_t process) const;
    nanoseconds lateness_of(std::size_t process) const;
    void left_behind(std::size_t node, const std::string& name, const seen_key& key);
    void end(open_lease& lease, std::uint64_t id, nanoseconds when);
    void check_rests();

    schedule& time_;
    assumptions given_;
    nanoseconds calm_since_ = nanoseconds::max();
    std::map<std::uint64_t, open_lease> open_;
    std::multimap<std::string, std::uint64_t> open_on_; // by resource
    std::vector<test::holding> history_;
    std::vector<resting> rests_;
    std::map<std::size_t, nanoseconds> excused_until_, late_by_;
    std::map<std::string, protected_register> registers_;
    std::map<std::string, granted_tokens> tokens_;
    std::uint64_t refused_writes_ = 0;
    std::map<std::pair<std::size_t, std::string>, seen_key> keys_;
    std::set<std::string>
        given_on_; // tokens of leases that were given to other processes as they are
    std::vector<violation> violations_;
};

} // namespace holdfast::simulation
