#pragma once

#include "verification/stores/byte_client.hpp"
#include "verification/stores/zookeeper/connection.hpp"
#include "verification/stores/zookeeper/ensemble.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::zookeeper_simulation {

// A connection of a client to a server, as the client sees it: bytes are delayed, held up while
// the way is cut off or the server stands still, and lost when the connection breaks.
class link final : public store_simulation::byte_link, public std::enable_shared_from_this<link> {
public:
    // `client_cut_until`: until when the client is cut off from all servers, as it looks now.
    link(
        world& w, ensemble& all, std::size_t number,
        std::function<time_point()> client_cut_until = [] { return time_point{}; });
    // To be called once.
    void open();

    void send(std::string bytes) override;
    // What is under way may still arrive.
    void leave() override;

private:
    void deliver(std::string bytes);
    void break_off();
    duration delay();
    duration answer_delay();

    world& world_;
    ensemble& all_;
    const std::size_t number_; // of the server
    const std::function<time_point()> client_cut_until_;
    std::shared_ptr<message_line> up_, down_;
    std::shared_ptr<connection> end_; // the server's
    time_point held_until_{};         // what the client has sent before it left
    bool left_ = false, late_ = false;
};

} // namespace holdfast::zookeeper_simulation
