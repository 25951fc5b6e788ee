#include <holdfast/redlock.hpp>

#include "redis/quorum/majority.hpp"
#include "redis/redlock_core.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: redlock: " + what);
}

void check_range(const char* name, milliseconds value, milliseconds low, milliseconds high)
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + std::to_string(value.count()) +
               " ms; it must be from " + std::to_string(low.count()) + " to " +
               std::to_string(high.count()) + " ms");
}

void check(const std::vector<endpoint>& nodes)
{
    if (nodes.empty())
        reject("no nodes");
    if (nodes.size() > redis::max_nodes)
        reject(std::to_string(nodes.size()) + " nodes; at most " +
               std::to_string(redis::max_nodes) + " are allowed");
    std::set<std::string> seen;
    for (const endpoint& node : nodes) {
        const std::string server = node.via() == endpoint::transport::unix_socket
                                       ? node.path()
                                       : node.host() + " " + std::to_string(node.port());
        if (!seen.insert(server).second)
            reject(node.address() + " is listed twice; a majority must be of different servers");
    }
}

// No node is ever used in plain text by mistake.
void check_tls(const std::vector<endpoint>& nodes, bool given)
{
    const auto found = std::find_if(nodes.begin(), nodes.end(),
        [](const endpoint& node) { return node.via() == endpoint::transport::tls; });
    if (found != nodes.end() && !given)
        reject(found->address() + " has the scheme rediss, and redlock_options::tls is not set; "
                                  "holdfast::tls() of <holdfast/tls.hpp> makes it");
    if (found == nodes.end() && given)
        reject("redlock_options::tls is set, but no node has the scheme rediss");
}

void check(const fencing_options& o)
{
    check_range("fence.quarantine", o.quarantine, 1s, 25h);
    check_range("fence.ahead", o.ahead, 10ms, 1h);
    if (o.ahead > o.quarantine / 2)
        reject("fence.ahead is " + std::to_string(o.ahead.count()) +
               " ms; it must be at most half of fence.quarantine, which is " +
               std::to_string(o.quarantine.count()) + " ms");
    if (o.counter_lifetime != 0ms)
        check_range("fence.counter_lifetime", o.counter_lifetime, 24h, 24h * 3650);
}

void check(const redlock_options& o)
{
    if (o.fencing != fencing::off && o.fencing != fencing::on)
        reject("fencing is neither on nor off");
    check(o.fence);
    if (o.fencing == fencing::on && o.allow_eviction)
        reject("allow_eviction cannot be used with fencing: a node that evicts counters repeats "
               "tokens");
    if (o.node_timeout)
        check_range("node_timeout", *o.node_timeout, 1ms, 60s);
    check_range("connect_timeout", o.connect_timeout, 1ms, 60s);
    check_range("silence_timeout", o.silence_timeout, 100ms, 1h);
    check_range("reconnect_min", o.reconnect_min, 1ms, 1h);
    check_range("reconnect_max", o.reconnect_max, o.reconnect_min, 1h);
    if (o.max_requests < 16)
        reject("max_requests is below 16");
    if (o.max_bytes < 64 * 1024)
        reject("max_bytes is below 64 KiB");
    const bool plain = std::all_of(
        o.client_name.begin(), o.client_name.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!plain || o.client_name.size() > 64)
        reject("client_name must be at most 64 printable characters without a space");
}

redis::node_settings settings_of(const endpoint& node, const redlock_options& o)
{
    redis::node_settings s;
    s.where = {.host = node.host(), .port = node.port(), .path = node.path()};
    s.name = node.address();
    s.user = node.user();
    s.password = node.password();
    if (o.credentials)
        s.login = [node, ask = o.credentials] {
            return ask(node);
        };
    if (node.via() == endpoint::transport::tls)
        s.tls = o.tls->factory();
    s.client_name = o.client_name;
    s.database = node.database();
    s.eviction_allowed = o.allow_eviction;
    s.connect_timeout = o.connect_timeout;
    s.silence_timeout = o.silence_timeout;
    s.reconnect_min = o.reconnect_min;
    s.reconnect_max = o.reconnect_max;
    s.max_requests = o.max_requests;
    s.max_bytes = o.max_bytes;
    return s;
}

redis::fence_settings settings_of(const fencing_options& o)
{
    return {.quarantine = o.quarantine,
        .ahead = o.ahead,
        .counter_lifetime = o.counter_lifetime,
        .first_deployment = o.first_deployment,
        .trusted_persistence = o.trusted_persistence};
}

class redlock_factory final : public core::backend_factory {
public:
    redlock_factory(const std::vector<endpoint>& nodes, const redlock_options& options)
    {
        for (const endpoint& node : nodes)
            settings_.push_back(settings_of(node, options));
        if (options.node_timeout)
            node_timeout_ = *options.node_timeout;
        if (options.fencing == fencing::on)
            fence_ = settings_of(options.fence);
    }

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        return std::make_unique<redis::redlock_core>(settings_, node_timeout_, jitter_seed, fence_);
    }

private:
    std::vector<redis::node_settings> settings_;
    std::optional<core::duration> node_timeout_;
    std::optional<redis::fence_settings> fence_;
};

} // namespace

backend redlock(std::vector<endpoint> nodes, redlock_options options)
{
    check(nodes);
    check_tls(nodes, options.tls.has_value());
    check(options);
    return backend(std::make_shared<redlock_factory>(nodes, options));
}

} // namespace holdfast
