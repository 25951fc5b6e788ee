#include <holdfast/zookeeper.hpp>

#include "core/backend.hpp"
#include "zookeeper/lock_core.hpp"
#include "zookeeper/url.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::size_t longest_text = 64, longest_secret = 1024, most_entries = 16;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: zookeeper: " + what);
}

void check_range(const char* name, milliseconds value, milliseconds low, milliseconds high)
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + std::to_string(value.count()) +
               " ms; it must be from " + std::to_string(low.count()) + " to " +
               std::to_string(high.count()) + " ms");
}

void check(const zookeeper_options& o)
{
    const bool plain = std::all_of(
        o.client_name.begin(), o.client_name.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!plain || o.client_name.size() > longest_text)
        reject("client_name must be at most 64 printable characters without a space");
    if (o.user.empty() != o.password.empty())
        reject("user and password must be given together, or neither");
    if (o.user.size() > longest_secret || o.password.size() > longest_secret)
        reject("user and password must have at most 1024 bytes each");
    if (o.user.find(':') != o.user.npos)
        reject("user must not have a colon");
    check_range("session_timeout", o.session_timeout, 1s, 10min);
    if (o.request_timeout)
        check_range("request_timeout", *o.request_timeout, 10ms, 60s);
    check_range("connect_timeout", o.connect_timeout, 1ms, 60s);
    check_range("reconnect_min", o.reconnect_min, 1ms, 1h);
    check_range("reconnect_max", o.reconnect_max, o.reconnect_min, 1h);
}

std::vector<zookeeper_store::wire::access> rights_of(const zookeeper_options& o)
{
    if (o.acl.size() > most_entries)
        reject("acl has more than 16 entries");
    std::vector<zookeeper_store::wire::access> rights;
    for (const std::string& each : o.acl) {
        rights.push_back(zookeeper_store::parse_access(each));
        if (rights.back().scheme == "auth" && o.user.empty())
            reject("the scheme auth of an acl needs user and password");
    }
    if (rights.empty())
        rights.push_back(zookeeper_store::parse_access("world:anyone:cdrwa"));
    return rights;
}

class zookeeper_factory final : public core::backend_factory {
public:
    explicit zookeeper_factory(zookeeper_store::lock_settings settings)
        : settings_(std::make_shared<const zookeeper_store::lock_settings>(std::move(settings)))
    {}

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        return std::make_unique<zookeeper_store::lock_core>(settings_, jitter_seed);
    }

private:
    std::shared_ptr<const zookeeper_store::lock_settings> settings_;
};

} // namespace

backend zookeeper(std::string url, zookeeper_options options)
{
    check(options);
    zookeeper_store::store_address where = zookeeper_store::parse_url(url);
    // No server is ever used in plain text by mistake.
    if (where.secure && !options.tls)
        reject("the URL has the scheme zookeepers, and zookeeper_options::tls is not set; "
               "holdfast::tls() of <holdfast/tls.hpp> makes it");
    if (!where.secure && options.tls)
        reject("the URL has the scheme zookeeper, and zookeeper_options::tls is set");
    zookeeper_store::lock_settings settings;
    settings.rights = rights_of(options);
    settings.root = std::move(where.root);
    settings.client_name = std::move(options.client_name);
    if (options.request_timeout)
        settings.request_timeout = *options.request_timeout;
    zookeeper_store::ensemble_settings& ensemble = settings.ensemble;
    ensemble.servers = std::move(where.servers);
    ensemble.user = std::move(options.user);
    ensemble.password = std::move(options.password);
    if (options.tls)
        ensemble.tls = options.tls->factory();
    ensemble.session_timeout = options.session_timeout;
    ensemble.connect_timeout = options.connect_timeout;
    ensemble.reconnect_min = options.reconnect_min;
    ensemble.reconnect_max = options.reconnect_max;
    return backend(std::make_shared<zookeeper_factory>(std::move(settings)));
}

} // namespace holdfast
