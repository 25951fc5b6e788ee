#include "redis/inspection/told_clients.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::redis {

namespace {

auto values_of(const client_details& d)
{
    return std::tie(d.info.host, d.info.pid, d.info.program, d.info.client_name, d.info.version,
        d.info.started, d.channel);
}

} // namespace

void told_clients::add(std::uint32_t id, client_details told, std::size_t needed)
{
    std::vector<record>& all = records_[id];
    auto found = std::find_if(all.begin(), all.end(),
        [&](const record& each) { return values_of(each.details) == values_of(told); });
    if (found == all.end())
        found = all.insert(all.end(), record{.details = std::move(told)});
    if (++found->nodes == needed)
        ++confirmed_;
}

const told_clients::record* told_clients::find(std::uint32_t id) const
{
    const auto found = records_.find(id);
    if (found == records_.end())
        return nullptr;
    const std::vector<record>& all = found->second;
    const auto best = std::max_element(
        all.begin(), all.end(), [](const record& a, const record& b) { return a.nodes < b.nodes; });
    return &*best;
}

} // namespace holdfast::redis
