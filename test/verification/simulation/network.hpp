#pragma once

#include "support/redis_model.hpp"
#include "verification/simulation/costs.hpp"
#include "verification/simulation/dice.hpp"
#include "verification/simulation/processor.hpp"
#include "verification/simulation/schedule.hpp"

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
    virtual void on_writable(stream_id stream) = 0; // after send() accepted only a part

protected:
    ~caller() = default;
};

// What the network needs of a server.
class listener {
public:
    virtual bool up() const noexcept = 0;
    virtual bool frozen() const noexcept = 0; // its kernel accepts connections and bytes; they wait
    // Appends the replies to `replies`. Its processor spends the cost.
    virtual void on_bytes(
        test::redis_model::session& session, std::string_view bytes, std::string& replies) = 0;
    virtual processor& thread() noexcept = 0;
    virtual std::size_t reads_at_once() const noexcept = 0;

protected:
    ~listener() = default;
};

// The route between two hosts, in both directions.
struct route {
    nanoseconds shortest{100'000}, longest{200'000}; // of a delay, each way
    double slow = 0; // the probability that a delay is between `longest` and `slowest`
    nanoseconds slowest{0};
    bool lost_out = false, lost_back = false; // packets are lost and sent again later
    bool trickles = false;                    // bytes arrive in pieces of a few bytes
};

// Streams with the guarantees of TCP: in each direction bytes arrive unchanged, in order, once, or
// not at all. There is no order between streams. Bytes that were sent before a stream was closed
// may arrive long after the close. A client can send as much as the buffers of both ends hold; a
// server keeps its output in its own memory, without a limit.
class network {
public:
    struct counts {
        std::uint64_t streams = 0, refused = 0, resets = 0, timed_out = 0, cut = 0, late = 0;
        std::uint64_t pushes_lost = 0, pushes_repeated = 0;
    };

    network(schedule& time, dice& chance) : time_(time), dice_(chance) {}

    std::size_t add(listener& server);
    std::size_t add(caller& client); // after all servers have been added

    route& between(std::size_t client, std::size_t server);
    std::size_t clients() const noexcept { return callers_.size(); }

    // Sets the probabilities that a notification is lost, or arrives twice.
    void lose_pushes(double lost, double repeated) noexcept
    {
        lost_pushes_ = lost;
        repeated_pushes_ = repeated;
    }

    std::size_t servers() const noexcept { return listeners_.size(); }

    // Sets how many bytes may be under way to a server that does not read them.
    void hold_at_most(std::size_t bytes) noexcept { buffer_ = bytes; }

    stream_id open(std::size_t client, std::size_t server);
    // Returns how many bytes it accepted. If not all, the caller is told when there is room again.
    std::size_t send(stream_id stream, std::string_view bytes);
    // The caller has closed the stream. Bytes under way still arrive if `late`.
    void close(stream_id stream, bool late);

    // Breaks the stream for both ends at once. A part of the bytes under way may arrive.
    void cut(stream_id stream);
    // The server's process has ended. Its host reports this, or has crashed as well.
    void server_died(std::size_t server, bool host_too);

    // A server sends these bytes to one of its sessions, after everything it sent there before.
    void push_to_client(std::size_t server, std::uint64_t session, std::string_view bytes);

    // Must be called when a route, a server or a client has become passable again.
    void retry();

    std::vector<stream_id> open_streams() const;
    std::size_t client_of(stream_id id) const { return streams_[id - 1]->client; }
    std::size_t server_of(stream_id id) const { return streams_[id - 1]->server; }
    const counts& counted() const noexcept { return counts_; }

private:
    enum class kind : std::uint8_t { open, bytes, close, reset };
    struct packet {
        kind is{};
        nanoseconds arrives{};
        std::string bytes;
    };
    struct direction {
        std::deque<packet> packets;
        nanoseconds latest{0}; // the arrival of the last packet: packets keep their order
        nanoseconds stuck_since{-1};
    };
    struct stream {
        std::size_t client = 0, server = 0;
        bool client_open = true; // the caller has not closed it, nor been told that it is broken
        bool server_open = false;
        bool given_up = false; // by the caller's kernel; the server has not been told
        direction out, back;
        std::string arrived;    // at the server, not yet read
        std::size_t unread = 0; // bytes sent that the server has not read
        bool full = false;      // the caller waits for room
        bool ending = false;    // the stream ends when the server has read everything
        test::redis_model::session session;
    };

    void leave(stream& s);
    void push(stream_id id, bool out, kind is, std::string bytes);
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
