#pragma once

#include "etcd/claim.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace holdfast::etcd_store {

// The keys and requests of claims.
class requests {
public:
    requests(std::string key_prefix, std::string client_name);

    // The value of the keys from now on; the name of the client before.
    void introduce(std::string value) { value_ = std::move(value); }

    // `<prefix><resource>/`, as etcdctl and the mutexes of etcd's own clients have it.
    std::string queue_of(std::string_view resource) const;

    // Creates the key of a claim, and lists the queue. `leaves`: the key of an earlier claim, which
    // is deleted in the same transaction; empty: none.
    std::string ask(const claim& c, std::string_view leaves) const;
    // Creates the key only if the queue is empty.
    std::string ask_once(const claim& c) const;
    // Deletes the key of a claim, and makes its requests fail that are executed later.
    std::string bar(const claim& c) const;
    // The key that bars them. It has no slash of its own, so it is in no queue.
    std::string barrier_of(const claim& c) const;

private:
    const std::string prefix_;
    std::string value_;
};

} // namespace holdfast::etcd_store
