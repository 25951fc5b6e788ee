#include "redis/redlock_settings.hpp"

#include "redis/dialect/fence_settings.hpp"
#include "redis/quorum/majority.hpp"
#include "redis/redlock_core.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace holdfast::redis {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::size_t longest_key_prefix = 64;

bool is_plain(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

fence_settings settings_of(const fencing_options& o)
{
    return {.quarantine = o.quarantine,
        .ahead = o.ahead,
        .first_deployment = o.first_deployment,
        .trusted_persistence = o.trusted_persistence};
}

class redlock_factory final : public core::backend_factory {
public:
    redlock_factory(
        std::vector<node_settings> nodes, const redlock_options& o, core::store_info about)
        : settings_(std::move(nodes)),
          used_{.key_prefix = o.key_prefix,
              .about = std::move(about),
              .client_record = o.client_record}
    {
        if (o.node_timeout)
            node_timeout_ = *o.node_timeout;
        if (o.fencing == fencing::on)
            fence_ = settings_of(o.fence);
    }

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        return std::make_unique<redlock_core>(settings_, node_timeout_, jitter_seed, fence_, used_);
    }

private:
    std::vector<node_settings> settings_;
    std::optional<core::duration> node_timeout_;
    std::optional<fence_settings> fence_;
    deployment used_;
};

} // namespace

void argument_check::reject(const std::string& what) const
{
    throw std::invalid_argument("holdfast: " + backend_ + ": " + what);
}

void argument_check::range(
    const char* name, milliseconds value, milliseconds low, milliseconds high) const
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + std::to_string(value.count()) +
               " ms; it must be from " + std::to_string(low.count()) + " to " +
               std::to_string(high.count()) + " ms");
}

void argument_check::endpoints(
    const std::vector<endpoint>& all, const std::string& what, const std::string& distinct) const
{
    if (all.empty())
        reject("no " + what);
    if (all.size() > max_nodes)
        reject(std::to_string(all.size()) + " " + what + "; at most " + std::to_string(max_nodes) +
               " are allowed");
    std::set<std::string> seen;
    for (const endpoint& each : all) {
        const std::string server = each.via() == endpoint::transport::unix_socket
                                       ? each.path()
                                       : each.host() + " " + std::to_string(each.port());
        if (!seen.insert(server).second)
            reject(each.address() + " is listed twice; " + distinct);
    }
}

void argument_check::layer(const std::vector<endpoint>& all, const std::optional<stream_layer>& tls,
    const std::string& option) const
{
    const auto found = std::find_if(all.begin(), all.end(),
        [](const endpoint& each) { return each.via() == endpoint::transport::tls; });
    if (found != all.end() && !tls)
        reject(found->address() + " has the scheme rediss, and " + option +
               " is not set; holdfast::tls() of <holdfast/tls.hpp> makes it");
    if (found == all.end() && tls)
        reject(option + " is set, but no node has the scheme rediss");
}

void argument_check::fence(const fencing_options& o) const
{
    range("fence.quarantine", o.quarantine, 1s, 25h);
    range("fence.ahead", o.ahead, 10ms, 1h);
    if (o.ahead > o.quarantine / 2)
        reject("fence.ahead is " + std::to_string(o.ahead.count()) +
               " ms; it must be at most half of fence.quarantine, which is " +
               std::to_string(o.quarantine.count()) + " ms");
}

void argument_check::options(const redlock_options& o) const
{
    if (o.fencing != fencing::off && o.fencing != fencing::on)
        reject("fencing is neither on nor off");
    fence(o.fence);
    if (o.fencing == fencing::on && o.allow_eviction)
        reject("allow_eviction cannot be used with fencing: a node that evicts its registers "
               "forgets ballots");
    if (o.node_timeout)
        range("node_timeout", *o.node_timeout, 1ms, 60s);
    range("connect_timeout", o.connect_timeout, 1ms, 60s);
    range("silence_timeout", o.silence_timeout, 100ms, 1h);
    range("reconnect_min", o.reconnect_min, 1ms, 1h);
    range("reconnect_max", o.reconnect_max, o.reconnect_min, 1h);
    if (o.max_requests < 16)
        reject("max_requests is below 16");
    if (o.max_bytes < 64 * 1024)
        reject("max_bytes is below 64 KiB");
    if (!is_plain(o.client_name) || o.client_name.size() > 64)
        reject("client_name must be at most 64 printable characters without a space");
    if (!is_plain(o.key_prefix) || o.key_prefix.size() > longest_key_prefix)
        reject("key_prefix must be at most 64 printable characters without a space");
    if (o.key_prefix.find_first_of("{}") != std::string::npos)
        reject("key_prefix must not contain a brace: all keys would be in one slot of a cluster");
    if (o.key_prefix.starts_with("hf:"))
        reject("key_prefix must not begin with \"hf:\", as the keys of fencing do without one");
}

void argument_check::no_fencing(const redlock_options& o) const
{
    if (o.fencing == fencing::on)
        reject("fencing cannot be used: during a fail-over two primaries may issue tokens at "
               "once, in any order; redlock() over independent nodes can issue them");
}

core::address address_of(const endpoint& where)
{
    return {.host = where.host(), .port = where.port(), .path = where.path()};
}

node_settings settings_of(const redlock_options& o)
{
    node_settings s;
    s.client_name = o.client_name;
    s.eviction_allowed = o.allow_eviction;
    s.connect_timeout = o.connect_timeout;
    s.silence_timeout = o.silence_timeout;
    s.reconnect_min = o.reconnect_min;
    s.reconnect_max = o.reconnect_max;
    s.max_requests = o.max_requests;
    s.max_bytes = o.max_bytes;
    return s;
}

node_settings settings_of(const endpoint& node, const redlock_options& o)
{
    node_settings s = settings_of(o);
    s.where = address_of(node);
    s.name = node.address();
    s.user = node.user();
    s.password = node.password();
    s.database = node.database();
    if (o.credentials)
        s.login = [node, ask = o.credentials](const core::address&) {
            return ask(node);
        };
    if (node.via() == endpoint::transport::tls)
        s.tls = o.tls->factory();
    return s;
}

backend make_backend(
    std::vector<node_settings> nodes, const redlock_options& o, core::store_info about)
{
    return backend(std::make_shared<redlock_factory>(std::move(nodes), o, std::move(about)));
}

} // namespace holdfast::redis
