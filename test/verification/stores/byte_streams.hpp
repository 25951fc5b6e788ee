#pragma once

#include "core/connection.hpp"
#include "verification/recipes/process.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::store_simulation {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;
using recipe_simulation::process;
using recipe_simulation::world;

// One open connection of a process to a server, as the process sees it.
class byte_link {
public:
    virtual ~byte_link() = default;

    // What the process gets. Not called after leave().
    std::function<void(const std::string&)> on_bytes;
    std::function<void()> on_break;

    virtual void send(std::string bytes) = 0;
    // The process does not use it any more, or has crashed.
    virtual void leave() = 0;
};

// A process whose connections carry bytes.
class stream_owner {
public:
    virtual process& runs() noexcept = 0;
    virtual std::span<core::connection* const> connections() = 0;
    // Opens this connection, by its place in connections().
    virtual std::shared_ptr<byte_link> open(std::size_t connection) = 0;
    // Probability that a connection is refused.
    virtual double refusal() const = 0;
    // How long it takes to open one, at most.
    virtual duration slowest_opening() const { return 20ms; }
    // It is not opened before then: its server stands still.
    virtual time_point opens_from(std::size_t /*connection*/) const { return core::long_ago; }
    // Bytes have arrived on this connection, and have been read.
    virtual void heard(std::size_t /*connection*/) {}
    // Something has happened: time for a loop of the engine, which calls serve().
    virtual void turn() = 0;

protected:
    ~stream_owner() = default;
};

// Opens and closes the connections of a process as they want, and moves the bytes.
class byte_streams {
public:
    // Both outlive it.
    byte_streams(world& w, stream_owner& owner) : world_(w), owner_(owner) {}

    void serve(time_point now);
    // All of them break.
    void lose_connections();
    // The process has crashed.
    void cut_off();

private:
    void follow(std::size_t i, time_point now);
    void open_later(std::size_t i);
    void opened(std::size_t i);
    void received(std::size_t i, std::string_view bytes);
    void broken(std::size_t i);
    // In this process, if the link is still the same then.
    void deliver(std::size_t i, const byte_link* of, world::event what);
    core::connection& connection(std::size_t i) { return *owner_.connections()[i]; }

    struct stream {
        std::shared_ptr<byte_link> link;
        std::uint64_t opening = 0; // the number of what is under way; 0: nothing
    };

    world& world_;
    stream_owner& owner_;
    std::vector<stream> streams_; // of the connections
    std::uint64_t openings_ = 0;
};

} // namespace holdfast::store_simulation
