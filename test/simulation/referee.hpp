#pragma once

#include "core/slot_map.hpp"
#include "simulation/schedule.hpp"
#include "support/history.hpp"
#include "support/redis_model.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::simulation {

// What must hold, by the numbers of the catalogue in the README.
enum class property : std::uint8_t {
    exclusion,  // P1: no two leases on one resource are valid at once
    tokens,     // P2: no two of one resource are alike, who asks later has a larger one
    register_,  // P3: work under a lease loses no update of what it protects
    notice,     // P4: the work was told to stop before another acquires; what is lost stays lost
    clean_up,   // P5: no key of ours is left, at once when all is well, after a ttl in any case
    progress,   // P6: when all is well again, everybody acquires
    steadiness, // P7: no lease is lost while a majority is well
    data_loss,  // P8: P1 and P2, although nodes forgot
    operations, // P9: every operation ends once, in time; nothing is left open
    goodput,    // P10: a burst is served about as fast as the work allows, and then it is over
};
std::string_view name_of(property p) noexcept;

std::string in_ms(nanoseconds t);

struct violation {
    property of{};
    nanoseconds when{};
    std::string text;
};

// What the faults of a world leave standing; the properties that hang on the rest are not judged.
struct assumptions {
    bool clocks_run_right = true;  // no server's clock is set forward
    bool nodes_remember = true;    // a node that forgets was down for longer than any lease
    bool nodes_forget = false;     // they do, in that way
    bool majority_is_well = false; // all the time: faults touch a minority only
    bool nodes_are_fast = true;    // none answers late without a fault
    bool nothing_is_late = false;  // what was sent arrives soon or never: no key comes after all
    bool fenced = false;           // there are tokens
};

// Somebody's use of the protected register.
struct access {
    std::size_t process = 0;
    nanoseconds asked{}, given{}; // the lease: when it was asked for, and acquired
    std::optional<std::uint64_t> token{};
    bool held = true; // as far as its process knows
};

// Sees everything at its true time, and says what ought not to have happened. Knows nothing of how
// the locks work.
class referee {
public:
    explicit referee(schedule& time) : time_(time) {}

    void assume(const assumptions& a) { given_ = a; }
    void fail(property p, std::string text);

    // Leases. `until`: when the process that holds it would find it not held any more.
    struct lease_params {
        std::string resource;
        std::size_t process = 0;
        nanoseconds asked{}, nodes_asked{}; // for it: its process; the nodes
        std::optional<std::uint64_t> token{};
        nanoseconds guard{}, until{};
        bool renews = true; // for as long as it is held
    };
    void acquired(std::uint64_t lease, lease_params terms);
    void valid_until(std::uint64_t lease, nanoseconds until); // whenever the process was busy
    void told_to_stop(std::uint64_t lease);
    void given_up(std::uint64_t lease); // released, dropped, or gone with its process

    // A process cannot notice anything from now on, or until then.
    void excuse(std::size_t process, nanoseconds until) { excused_until_[process] = until; }

    // A process does what is due so much later than it should, at the most: it has other work.
    void late(std::size_t process, nanoseconds by) { late_by_[process] = by; }

    // The protected register: reads its version; writes, if the version is still that one. It
    // takes nothing from who has a smaller token than somebody before him.
    std::uint64_t read(const std::string& resource, const access& who);
    void write(const std::string& resource, std::uint64_t version_seen, const access& who);
    std::uint64_t refused_writes() const noexcept { return refused_writes_; }

    // Keys on nodes; null: gone. True if the key was not there before. `in_passing`: on its way
    // along a queue, so who had it for a moment has not deleted it.
    bool key_changed(std::size_t node, const std::string& key, const test::redis_model::item* item,
        test::redis_model::time wall, bool in_passing);
    // The owner of this value has told the node that the key shall not be his any more.
    void given_back(std::size_t node, const std::string& key, std::string_view value);
    // A node has started again, with these keys.
    void keys_restored(std::size_t node, const test::redis_model::data& contents);
    // From now on nothing is broken.
    void calm_begins() { calm_since_ = time_.now(); }
    bool calm() const noexcept { return time_.now() >= calm_since_; }
    nanoseconds calm_since() const noexcept { return calm_since_; }
    // Nobody wants anything: what was set or renewed since then should have been deleted.
    void check_cleaned_up(nanoseconds since);
    // There are connections again: what nobody holds should have been deleted, unless it is young.
    void check_cleaned_up_after_cuts(nanoseconds young);

    // At the end: the history checker speaks.
    void conclude();

    const std::vector<violation>& violations() const noexcept { return violations_; }
    std::size_t leases() const noexcept { return history_.size() + open_.size(); }

private:
    struct open_lease {
        lease_params terms;
        nanoseconds from{};
        nanoseconds updated{}, until_before{}; // what `until` was when it last changed
        bool told = false, over = false;
    };
    struct seen_key {
        std::string value;
        nanoseconds changed{};
        std::optional<test::redis_model::time> ends{};
        bool there = false;
        bool queue = false;            // of those who wait for another key
        std::set<std::string> deleted; // values that it has had, until somebody deleted them
    };

    struct protected_register {
        std::uint64_t version = 0, largest_token = 0;
        nanoseconds last_asked{-1}; // of those who have written, who asked last
    };
    struct token {
        std::uint64_t number = 0, largest = 0; // of it and all before it
        nanoseconds given{};
    };

    bool judged() const noexcept { return given_.clocks_run_right && given_.nodes_remember; }
    void check_token(const lease_params& lease);
    bool excused(std::size_t process) const;
    nanoseconds lateness_of(std::size_t process) const;
    void left_behind(std::size_t node, const std::string& name, const seen_key& key);
    void end(open_lease& lease, std::uint64_t id, nanoseconds when);

    schedule& time_;
    assumptions given_;
    nanoseconds calm_since_ = nanoseconds::max();
    std::map<std::uint64_t, open_lease> open_;
    std::multimap<std::string, std::uint64_t> open_on_; // by resource
    std::vector<test::holding> history_;
    std::map<std::size_t, nanoseconds> excused_until_, late_by_;
    std::map<std::string, protected_register> registers_;
    std::map<std::string, std::vector<token>> tokens_; // in the order in which they were given
    std::uint64_t refused_writes_ = 0;
    std::map<std::pair<std::size_t, std::string>, seen_key> keys_;
    std::vector<violation> violations_;
};

} // namespace holdfast::simulation
