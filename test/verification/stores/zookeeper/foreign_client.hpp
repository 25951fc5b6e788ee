#pragma once

#include "verification/stores/zookeeper/link.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::zookeeper_simulation {

// Another program that uses the same locks: it queues as Curator does, with sessions that it
// proves by pings. It is not judged. Some of these programs change their mind at once, some write
// to their nodes, and some leave nodes in the queue that are no locks.
class foreign_client {
public:
    foreign_client(world& w, ensemble& all, int number, std::vector<std::string> queues);

    void begin();
    void stop() noexcept { stopping_ = true; }

private:
    struct sent {
        zookeeper_store::wire::operation what{};
        std::string path{};
    };

    void connect();
    void lost();
    void received(const std::string& bytes);
    void handle(std::string_view record);
    void handle_reply(const sent& to, std::int32_t error, const zookeeper_store::wire::reply_body&);
    void ask(zookeeper_store::wire::request r);
    void ping();
    void want();
    void look();
    void judge(const std::vector<std::string>& children);
    void write();
    void give_back();
    void rest();
    // If the connection is still the same then.
    void later(duration delay, void (foreign_client::*what)());

    world& world_;
    ensemble& all_;
    const std::string name_;
    const std::vector<std::string> queues_;
    std::shared_ptr<link> link_;
    std::uint64_t connections_ = 0, wishes_ = 0;
    zookeeper_store::wire::frame_reader in_{zookeeper_store::wire::longest_record};
    std::deque<sent> sent_;
    bool connected_ = false, stopping_ = false;
    std::int32_t timeout_ms_ = 0, requests_ = 0;
    std::string queue_, node_; // the whole path of the node
};

} // namespace holdfast::zookeeper_simulation
