#include "counted.hpp"

#include <algorithm>
#include <cstring>

namespace counted {

using namespace holdfast::core;

slot_id acquire(locker_core& locker, std::uint64_t tag, std::string_view resource,
    const lease_params& terms, time_point now)
{
    return locker.acquire(tag, resource, terms, std::chrono::seconds(10), false, now);
}

void release(locker_core& locker, slot_id lease, std::uint64_t tag, time_point now)
{
    locker.release(lease, tag, now);
    locker.drop(lease, now);
}

void wake(locker_core& locker, time_point now)
{
    locker.wake(now);
}

time_point wake_at(const locker_core& locker)
{
    return locker.wake_at();
}

std::optional<effect> next_effect(locker_core& locker)
{
    return locker.next_effect();
}

std::string_view output(connection& node)
{
    return node.output();
}

void written(connection& node, std::size_t bytes, time_point now)
{
    node.written(bytes, now);
}

void receive(connection& node, std::string_view bytes, time_point now)
{
    while (!bytes.empty()) {
        const std::span<char> space = node.read_space();
        const std::size_t n = std::min(space.size(), bytes.size());
        std::memcpy(space.data(), bytes.data(), n); // as the kernel would
        node.received(n, now);
        bytes.remove_prefix(n);
    }
}

} // namespace counted

void begin_to_count() {}
