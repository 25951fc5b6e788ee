#pragma once

#include "simulation/costs.hpp"
#include "simulation/dice.hpp"
#include "simulation/processor.hpp"
#include "simulation/schedule.hpp"
#include "support/redis_model.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::simulation {

using stream_id = std::uint32_t; // from 1; 0 is none

enum class breakage : std::uint8_t { refused, reset, timed_out };

// What the network needs of a process that opens streams.
class caller {
public:
    virtual bool frozen() const noexcept = 0; // bytes for it wait
    virtual void on_open(stream_id stream) = 0;
    virtual void on_bytes(stream_id stream, std::string_view bytes) = 0;
    virtual void on_broken(stream_id stream, breakage how) = 0;
    virtual void on_writable(stream_id stream) = 0; // after send() took less than all

protected:
    ~caller() = default;
};

// What the network needs of a server.
class listener {
public:
    virtual bool up() const noexcept = 0;
    virtual bool frozen() const noexcept = 0; // its kernel takes connections and bytes; they wait
    // The replies are added to `replies`. What it costs is spent by its processor.
    virtual void on_bytes(
        test::redis_model::session& session, std::string_view bytes, std::string& replies) = 0;
    virtual processor& thread() noexcept = 0;
    virtual std::size_t reads_at_once() const noexcept = 0;

protected:
    ~listener() = default;
};

// One way between two hosts, in both directions.
struct route {
    nanoseconds shortest{100'000}, longest{200'000}; // of a delay, each way
    double slow = 0;                                 // how often a delay is drawn from `slowest`
    nanoseconds slowest{0};
    bool lost_out = false, lost_back = false; // nothing comes through; it is sent again later
    bool trickles = false;                    // in pieces of a few bytes
};

// Streams as TCP makes them: in each direction bytes arrive whole, in order, once, or not at all.
// Between streams there is no order. What was sent before a stream was closed may arrive long after
// that. A client can send as much as the buffers of both ends hold; a server keeps what it has to
// say in its own memory, however much that is.
class network {
public:
    struct counts {
        std::uint64_t streams = 0, refused = 0, resets = 0, timed_out = 0, cut = 0, late = 0;
        std::uint64_t pushes_lost = 0, pushes_repeated = 0;
    };

    network(schedule& time, dice& chance) : time_(time), dice_(chance) {}

    std::size_t add(listener& server);
    std::size_t add(caller& client); // when all servers are there

    route& between(std::size_t client, std::size_t server);
    std::size_t clients() const noexcept { return callers_.size(); }

    // With which probabilities notifications do not reach their clients, or reach them twice.
    void lose_pushes(double lost, double repeated) noexcept
    {
        lost_pushes_ = lost;
        repeated_pushes_ = repeated;
    }

    std::size_t servers() const noexcept { return listeners_.size(); }

    // How many bytes may be on their way to a server that does not read them.
    void hold_at_most(std::size_t bytes) noexcept { buffer_ = bytes; }

    stream_id open(std::size_t client, std::size_t server);
    // Returns how many it has taken. If that is less, the caller is told when there is room again.
    std::size_t send(stream_id stream, std::string_view bytes);
    // The caller has closed it. What is under way still arrives if `late`.
    void close(stream_id stream, bool late);

    // Both ends are told at once that the stream is broken; what was under way arrives in part.
    void cut(stream_id stream);
    // The server's process is gone; its host says so, or has gone as well.
    void server_died(std::size_t server, bool host_too);

    // A server sends this to one of its sessions, behind what it has sent there before.
    void push_to_client(std::size_t server, std::uint64_t session, std::string_view bytes);

    // To be called when a way, a server or a client has become passable again.
    void retry();

    std::vector<stream_id> open_streams() const;
    std::size_t client_of(stream_id id) const { return streams_[id - 1]->client; }
    std::size_t server_of(stream_id id) const { return streams_[id - 1]->server; }
    const counts& counted() const noexcept { return counts_; }

private:
    enum class what : std::uint8_t { open, bytes, close, reset };
    struct packet {
        what is{};
        nanoseconds arrives{};
        std::string bytes;
    };
    struct direction {
        std::deque<packet> packets;
        nanoseconds latest{0}; // nothing arrives before what was sent earlier
        nanoseconds stuck_since{-1};
    };
    struct stream {
        std::size_t client = 0, server = 0;
        bool client_open = true; // the caller has not closed it, and has not been told of an end
        bool server_open = false;
        bool given_up = false; // by the caller's kernel, of which the server has not heard
        direction out, back;
        std::string arrived;    // at the server, which has not read it
        std::size_t unread = 0; // by the server, of all that was sent
        bool full = false;      // the caller waits for room
        bool ending = false;    // the server is to be told when it has read everything
        test::redis_model::session session;
    };

    void leave(stream& s);
    void push(stream_id id, bool out, what is, std::string bytes);
    void push_bytes(stream_id id, bool out, std::string_view bytes);
    void plan(stream_id id, bool out, nanoseconds when);
    void deliver(stream_id id, bool out);
    bool passable(const stream& s, bool out) const;
    void arrive_at_server(stream_id id, packet p);
    void arrive_at_client(stream_id id, packet p);
    void serve(stream_id id);
    void make_room(stream_id id, std::size_t bytes);
    void give_up_if_stuck(stream_id id, nanoseconds since);
    nanoseconds delay(const stream& s);
    stream& at(stream_id id) { return *streams_[id - 1]; }

    schedule& time_;
    std::size_t buffer_ = unlimited;
    double lost_pushes_ = 0, repeated_pushes_ = 0;
    dice& dice_;
    std::vector<listener*> listeners_;
    std::vector<caller*> callers_;
    std::vector<route> routes_;
    std::vector<std::unique_ptr<stream>> streams_;
    std::string replies_;
    counts counts_;
};

} // namespace holdfast::simulation
