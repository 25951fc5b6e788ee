#pragma once

#include "support/etcd_model_server.hpp"
#include "verification/stores/byte_client.hpp"
#include "verification/stores/etcd/cluster.hpp"

#include <memory>
#include <string>

namespace holdfast::etcd_simulation {

// One connection of a client to a member: bytes are delayed, requests are executed and answered
// when the member can, in any order that HTTP/2 allows.
class link final : public store_simulation::byte_link, public std::enable_shared_from_this<link> {
public:
    link(world& w, cluster& servers, std::size_t member)
        : world_(w),
          cluster_(servers),
          member_(member),
          server_(servers.model)
    {}

    void send(std::string bytes) override;
    // What is under way may still be executed.
    void leave() override;
    void tell_watches();

private:
    void arrive(const std::string& bytes);
    void execute();
    void answer();
    void flush();
    void break_off();
    void shuffle();
    void later(time_point at, void (link::*what)());

    world& world_;
    cluster& cluster_;
    const std::size_t member_;
    test::etcd_model_server server_;
    time_point sent_{}, delivered_{}; // the last bytes, in each direction
    std::size_t known_ = 0;           // requests that are to be executed by a planned event
    bool left_ = false, late_ = false, telling_ = false;
};

} // namespace holdfast::etcd_simulation
