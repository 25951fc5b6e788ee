#pragma once

#include "verification/model/baton/world.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace holdfast::model::baton {

// The possible violations, a bit each.
enum violation : std::uint8_t {
    none = 0,
    overlap = 1, // two processes believe that they hold the lease
    hollow = 2,  // a process believes that it does, and no majority of the keys is there
    stolen = 4,  // a process deletes a key of a lease that another one has
    endless = 8, // a key lasts for longer than any ttl
};

// Deviations from the correct protocol.
struct rules {
    bool gives_early = false;         // while a renewal is under way
    bool gives_strayed = false;       // although the answer to a renewal is lost
    bool ignores_lost_places = false; // although the answer to a request for a place is lost
    bool gives_queued = false;        // although its own place may be in the queue
    bool doubt_deletes = false;       // a giver that gets no answer deletes all keys
    bool doubt_holds = false;         // a giver holds the lease until it gets the answer
    bool doubt_by_token = false; // it deletes the queue node's key whatever is behind the token
    bool giver_renews = false;   // a giver renews the keys after it has given the lease
    bool lag_ignored = false;    // the new holder counts what the queue node's key lasts
    bool lag_unmeasured = false; // a lease that is renewed keeps the lag of its baton
    bool lag_after_confirming = false; // the same for keys that were confirmed
    bool end_forgotten = false;        // the lag does not count the end that the baton had told
    bool from_receipt = false;         // the new holder counts from the message
    bool from_last_request = false;    // it counts from its last request for a place
    bool full_ttl = false;             // it counts more than its own ttl
    bool taken_twice = false;          // a baton that comes again is taken again
    bool discards_repeats = false;     // it is discarded like a lease that is not wanted
    bool any_value = false;            // the script does not look whose key it is
    bool without_ttl = false;          // the script sets the key without a ttl
    bool early_return = false;         // a node that has lost its data comes back too early
};

struct scope {
    std::string_view name = {};
    std::string_view what = {};
    std::size_t processes = 3;
    std::array<small, process_count> ttls{2, 2, 2};
    small last_time = 4;
    std::array<bool, process_count> sets{true, false, false};  // may begin without the queue
    std::array<bool, process_count> queues{false, true, true}; // may begin in the queue
    std::array<bool, process_count> old{};                     // knows no batons
    std::array<bool, process_count> renews{true, true, true};  // sends renewals
    bool gives_up = false; // processes may give up before they have a lease
    // Requests for a place and their answers are under way for any time. Otherwise such a request
    // and its answer are one step, and a message that was not read before is lost.
    bool each_place = false;
    bool everywhere = false; // a process that is given a lease may have another place
    std::array<bool, process_count> goes_on{}; // waiters that may go on without their turn
    // At most:
    unsigned renewals = 0;
    unsigned crashes = 0;
    unsigned lost_answers = 0; // to renewals
    unsigned lost_places = 0;  // requests for a place, on connections that are lost

    small longest_ttl() const noexcept { return std::max({ttls[0], ttls[1], ttls[2]}); }
};

inline constexpr small turn_ttl = 1; // of a key that is handed off

// Those that the correct protocol has to pass. The first one is the default.
std::span<const scope> scopes() noexcept;

struct variant {
    std::string_view name;
    std::string_view what;
    rules how{};
    unsigned breaks = none; // the expected violations
    std::string_view within = {};
};

// The wrong variants.
std::span<const variant> variants() noexcept;

} // namespace holdfast::model::baton
