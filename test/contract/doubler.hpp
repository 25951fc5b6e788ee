#pragma once

#include "contract/backend_contract.hpp"

#include <holdfast/batch.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::test {

using numbers = std::vector<int>;
using doubler = batcher<int, int>;
using submitted = call<int>;

/// What a body has seen.
struct diary {
    std::vector<numbers> batches;
    std::vector<std::optional<std::uint64_t>> fences;
    bool inside = false, overlapped = false;
};

/// Doubles each number, and takes a moment.
inline asio::awaitable<numbers> twice(diary& d, lease& held, std::span<int> requests)
{
    d.overlapped = d.overlapped || d.inside || !held.held();
    d.inside = true;
    d.batches.emplace_back(requests.begin(), requests.end());
    d.fences.push_back(held.fence());
    co_await pause(2ms);
    numbers replies;
    for (const int each : requests)
        replies.push_back(2 * each);
    d.inside = false;
    co_return replies;
}

inline auto doubling(diary& d)
{
    return [&d](lease& held, std::span<int> requests) {
        return twice(d, held, requests);
    };
}

inline task until(const bool& so)
{
    while (!so)
        co_await pause(1ms);
}

inline task until_done(const submitted& each)
{
    while (!each.done())
        co_await pause(1ms);
}

inline task until_all_done(const std::vector<submitted>& all)
{
    for (const auto& each : all)
        co_await until_done(each);
}

} // namespace holdfast::test
