#pragma once

#include "verification/stores/client.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::store_simulation {

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

// A client whose store uses connections of bytes (core::connection): opens and closes them as the
// store wants, and moves the bytes.
class byte_client : public client {
public:
    byte_client(world& w, referee& judge, const client_params& p, const client_habits& h)
        : client(w, judge, p, h),
          world_(w)
    {}

    // All its connections break.
    void lose_connections();

private:
    // Opens this connection of the store, by its place in connections().
    virtual std::shared_ptr<byte_link> open(std::size_t connection) = 0;
    // Probability that a connection is refused.
    virtual double refusal() const = 0;
    // How long it takes to open one, at most.
    virtual duration slowest_opening() const { return 20ms; }
    // Bytes have arrived on this connection, and the store has read them.
    virtual void heard(std::size_t /*connection*/) {}

    void serve(time_point now) final;
    void cut_off() final;
    void follow(std::size_t i, time_point now);
    void open_later(std::size_t i);
    void opened(std::size_t i);
    void received(std::size_t i, std::string_view bytes);
    void broken(std::size_t i);
    // In this process, if the link is still the same then.
    void deliver(std::size_t i, const byte_link* of, world::event what);
    core::connection& connection(std::size_t i) { return *store().connections()[i]; }

    struct stream {
        std::shared_ptr<byte_link> link;
        bool opening = false;
    };

    world& world_;
    std::vector<stream> streams_; // of the connections
};

} // namespace holdfast::store_simulation
