#pragma once

#include "support/redis_model.hpp"
#include "verification/simulation/referee.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::simulation {

// Checks every command that one node executes against the promises on the wire. A SET is sent once,
// and again only if it was refused or a renewal found its key missing. Only a SET and the scripts
// that enter a queue create keys.
class witness {
public:
    witness(std::size_t node, schedule& time, referee& judge)
        : node_(node),
          time_(time),
          referee_(judge)
    {}

    void before(test::redis_model::arguments command, const test::redis_model& model,
        test::redis_model::time wall);
    void key_changed(
        const std::string& key, const test::redis_model::item* item, test::redis_model::time wall);

    void restarted(const test::redis_model& model);

    // No place in a queue is left that was asked for since then. Each place is judged by itself: a
    // queue with the place of a waiter that is gone lasts for as long as others join it.
    void check_places(
        nanoseconds since, const test::redis_model& model, test::redis_model::time wall) const;

    // Between accident(true) and accident(false) keys vanish by a fault, not by an owner's request.
    void accident(bool happens) noexcept { accident_ = happens; }

    // The resource whose lock or queue a key is; none for a window, a node's record
    // or its registers.
    static std::optional<std::string> lock_named(std::string_view key);

private:
    struct seen_token {
        unsigned sets = 0, missed = 0; // missed: refused, or found missing
        bool handed_over = false;      // a script has given the key to this token
    };

    void set(test::redis_model::arguments command, const test::redis_model& model,
        test::redis_model::time wall);
    void renewal(test::redis_model::arguments keys, test::redis_model::arguments values,
        const test::redis_model& model, test::redis_model::time wall);

    const std::size_t node_;
    schedule& time_;
    referee& referee_;
    bool may_make_keys_ = false, is_set_ = false, passes_on_ = false; // the command
    bool accident_ = false;
    boost::unordered_flat_map<std::string, seen_token> tokens_;
    boost::unordered_flat_map<std::string, nanoseconds> places_; // when they were last asked for
};

} // namespace holdfast::simulation
