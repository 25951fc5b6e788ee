#pragma once

#include "verification/stores/zookeeper/ensemble.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::zookeeper_simulation {

// Where an answer goes.
struct origin {
    std::size_t server = 0;
    std::uint64_t connection = 0;
};

// The time in which one server leads: it orders what is to happen, and knows until when sessions
// last. It goes on for a while when it is cut off and the others have another leader already.
class reign : public std::enable_shared_from_this<reign> {
public:
    reign(world& w, ensemble& all, std::size_t leader, std::int64_t epoch);
    // Begins to send pings and to end sessions.
    void begin();

    std::size_t leader() const noexcept { return leader_; }
    bool is_over() const noexcept { return over_; }
    // Another one leads. The leader does not know it yet. Returns what was proposed and not
    // committed.
    std::deque<log_entry> depose();
    // It ends, and the leader knows.
    void end();

    void join(std::size_t follower);
    // The leader learns of it when it can be reached.
    void leave(std::size_t follower);
    // Runs this at the leader after the time that a message needs, behind what the follower has
    // sent before.
    void from(std::size_t follower, world::event what);

    // Runs this at the server after the time that a message needs, behind what the leader has sent
    // to it before.
    void tell(std::size_t server, world::event what);

    // The rest happens at the leader.
    void submit(const zookeeper_store::wire::request& r, std::int64_t session, const origin& o);
    void begin_session(std::int64_t session, std::int32_t timeout_ms, const origin& o);
    void end_session(std::int64_t session, const origin& o);
    // Whether the session goes on, now at this server.
    bool revalidate(std::int64_t session, std::int32_t timeout_ms, std::size_t at);
    void touch(std::int64_t session, std::int32_t timeout_ms);
    // The error that a request of the session gets which comes from this server.
    std::int32_t refusal(std::int64_t session, std::size_t from);
    // Runs `done` at the server when it has applied what was proposed before.
    void sync(std::size_t server, world::event done);

private:
    struct session_record {
        time_point expires{}; // by the clock of the leader
        std::optional<std::size_t> owner{};
        bool closing = false;
    };
    struct proposal {
        log_entry entry;
        std::set<std::size_t> acknowledged;
        std::vector<std::pair<std::size_t, world::event>> syncs; // done when this is committed
    };
    struct member {
        std::shared_ptr<message_line> up, down; // none: it does not follow
        time_point heard{};
        bool counts = false; // for the leader, who may not know yet that it does not follow
    };

    time_point clock() const;
    std::shared_ptr<message_line> line(std::size_t follower, std::size_t to);
    void propose(test::zookeeper_change c, const origin& o);
    void send_proposal(std::size_t follower, std::int64_t zxid);
    void acknowledge(std::size_t server, std::int64_t zxid);
    void commit_what_is_acknowledged();
    void beat();
    void ping(std::size_t follower);
    void expire();
    void remove_containers();
    // As long as this lasts and the leader runs.
    void repeat(duration by_its_clock, void (reign::*what)());
    std::int64_t next_zxid() noexcept { return epoch_ << 32 | ++count_; }

    world& world_;
    ensemble& all_;
    const std::size_t leader_;
    const std::int64_t epoch_;
    std::int64_t count_ = 0;
    test::zookeeper_tree prepared_;
    std::deque<proposal> outstanding_;
    std::map<std::int64_t, session_record> sessions_;
    std::vector<member> members_;
    bool over_ = false, deposed_ = false;
};

} // namespace holdfast::zookeeper_simulation
