#pragma once

#include "verification/stores/zookeeper/ensemble.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace holdfast::zookeeper_simulation {

class connection;

// One server of an ensemble: it serves its clients from its own data, which may be older than what
// is committed, and asks the leader for everything else.
class server {
public:
    server(world& w, ensemble& all, std::size_t number, double clock_rate);

    std::size_t number() const noexcept { return number_; }
    const test::zookeeper_tree& data() const noexcept { return data_; }
    const ensemble_settings& settings() const noexcept { return all_.settings(); }
    duration session_timeout(duration wanted) const { return all_.session_timeout(wanted); }
    std::int64_t clock_ms() const { return all_.clock_ms(); }

    // By its own clock.
    time_point clock() const noexcept;
    // From when on it runs, can reach other servers, can reach its clients, as it looks now.
    time_point runs_from() const noexcept { return runs_from_; }
    time_point isolated_until() const noexcept { return isolated_until_; }
    time_point cut_until() const noexcept { return cut_until_; }

    // Whether it accepts a connection now, as a process; it may stand still.
    bool listens() const noexcept
    {
        return serving_ && !crashed_ && turns_away_until_ <= world_.now();
    }
    // A client has connected. Precondition: listens().
    std::shared_ptr<connection> accept();
    void forget(const connection& c);

    // For its connections.
    // Runs this when its thread has done what came before, and has spent the time of a request.
    void work(world::event what);
    void touch(std::int64_t session, std::int32_t timeout_ms);
    // The leader knows whether a session is still served here. Other servers read for any.
    std::int32_t refusal_of_read(std::int64_t session);
    void begin_session(connection& c, std::int32_t timeout_ms);
    // It is used over another connection.
    void close_older(std::int64_t session);
    void revalidate(connection& c, std::int64_t session, std::int32_t timeout_ms);
    void forward(const zookeeper_store::wire::request& r, connection& c);

    // For the ensemble and reigns.
    void freeze_until(time_point t);
    void isolate_until(time_point t) { isolated_until_ = std::max(isolated_until_, t); }
    void cut_clients_until(time_point t) { cut_until_ = std::max(cut_until_, t); }
    void turn_clients_away_until(time_point t);
    void crash(duration length);
    bool is_crashed() const noexcept { return crashed_; }
    bool is_looking() const noexcept { return !reign_ && !crashed_; }
    bool follows(const reign& which) const noexcept { return reign_.get() == &which; }
    void follow(std::shared_ptr<reign> which);
    // It serves nobody, and looks for a leader.
    void lose_leader();
    // Applies what is committed, up to this place of the log.
    void catch_up(std::size_t committed);
    // The leader asks which sessions it has heard of since.
    std::map<std::int64_t, std::int32_t> answer_ping();

private:
    void seek_later();
    void watch_leader();
    void hang_up();
    bool leads() const noexcept;
    // Runs this in the connection, if it is still there.
    void in(std::uint64_t connection,
        const std::function<void(zookeeper_simulation::connection&)>& what);

    world& world_;
    ensemble& all_;
    const std::size_t number_;
    const double rate_;
    test::zookeeper_tree data_;
    std::size_t applied_ = 0; // of the log
    std::shared_ptr<reign> reign_;
    std::map<std::uint64_t, std::shared_ptr<connection>> connections_;
    std::map<std::int64_t, std::int32_t> touched_; // sessions, and their timeouts
    std::uint64_t connections_made_ = 0, sessions_made_ = 0, incarnation_ = 0;
    time_point busy_until_{}; // its thread
    time_point runs_from_{}, isolated_until_{}, cut_until_{}, turns_away_until_{}, heard_{};
    bool serving_ = false, crashed_ = false, seeking_ = false;
};

} // namespace holdfast::zookeeper_simulation
