#pragma once

#include "support/redis_client.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

// Deliberately wrong locks, which the tests must detect:
//
//     no_lock      every attempt is granted
//     one_node     one node is enough
//     no_compare   the release deletes the key, even if it belongs to another client by then
//
// Apart from that they are correct, with blocking calls.
class wrong_lock {
public:
    wrong_lock(std::string kind, std::string resource, std::chrono::milliseconds ttl,
        const std::vector<std::string>& urls)
        : kind_(std::move(kind)),
          resource_(std::move(resource)),
          ttl_(ttl),
          nodes_(urls.size())
    {
        for (const auto& url : urls)
            ports_.push_back(
                static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1))));
    }

    bool try_acquire()
    {
        token_ = std::to_string(random_()) + std::to_string(random_());
        const auto begin = std::chrono::steady_clock::now();
        valid_until_ = begin + ttl_ - ttl_ / 100 - std::chrono::milliseconds(2);
        std::size_t granted = 0;
        for (const auto& reply :
            ask_all({"SET", resource_, token_, "NX", "PX", std::to_string(ttl_.count())}))
            granted += reply == "OK" ? 1u : 0u;
        const std::size_t needed = kind_ == "no_lock"    ? 0
                                   : kind_ == "one_node" ? 1
                                                         : nodes_.size() / 2 + 1;
        if (granted >= needed)
            return true;
        delete_own();
        return false;
    }

    void release()
    {
        if (kind_ == "no_compare")
            ask_all({"DEL", resource_});
        else
            delete_own();
    }

    std::chrono::steady_clock::time_point valid_until() const
    {
        return kind_ == "no_lock" ? std::chrono::steady_clock::time_point::max() : valid_until_;
    }

private:
    void delete_own()
    {
        ask_all({"EVAL",
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end",
            "1", resource_, token_});
    }

    std::vector<std::string> ask_all(const std::vector<std::string>& words)
    {
        std::vector<std::string> replies;
        const std::size_t first = random_() % nodes_.size();
        while (replies.size() < nodes_.size()) {
            const std::size_t i = (first + replies.size()) % nodes_.size();
            replies.push_back(nodes_[i].command(ports_[i], words, std::chrono::seconds(5)));
        }
        return replies;
    }

    std::string kind_, resource_, token_;
    std::chrono::milliseconds ttl_;
    std::chrono::steady_clock::time_point valid_until_{};
    std::vector<redis_client> nodes_;
    std::vector<std::uint16_t> ports_;
    std::random_device random_;
};

} // namespace holdfast::test
