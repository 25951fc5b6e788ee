#include <holdfast/etcd.hpp>

#include "core/backend.hpp"
#include "etcd/lock_core.hpp"
#include "etcd/urls.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr std::size_t most_members = 31, longest_text = 64, longest_secret = 1024;

[[noreturn]] void reject(const std::string& what)
{
    throw std::invalid_argument("holdfast: etcd: " + what);
}

void check_range(const char* name, milliseconds value, milliseconds low, milliseconds high)
{
    if (value < low || value > high)
        reject(std::string(name) + " is " + std::to_string(value.count()) +
               " ms; it must be from " + std::to_string(low.count()) + " to " +
               std::to_string(high.count()) + " ms");
}

void check_text(const char* name, std::string_view text)
{
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!plain || text.size() > longest_text)
        reject(std::string(name) + " must be at most 64 printable characters without a space");
}

void check(const etcd_options& o)
{
    check_text("key_prefix", o.key_prefix);
    check_text("client_name", o.client_name);
    if (o.user.empty() != o.password.empty())
        reject("user and password must be given together, or neither");
    if (o.user.size() > longest_secret || o.password.size() > longest_secret)
        reject("user and password must have at most 1024 bytes each");
    if (o.request_timeout)
        check_range("request_timeout", *o.request_timeout, 10ms, 60s);
    check_range("connect_timeout", o.connect_timeout, 1ms, 60s);
    check_range("reconnect_min", o.reconnect_min, 1ms, 1h);
    check_range("reconnect_max", o.reconnect_max, o.reconnect_min, 1h);
}

std::vector<etcd_store::member_address> members_of(
    const std::vector<std::string>& urls, bool has_tls)
{
    if (urls.empty())
        reject("no URL");
    if (urls.size() > most_members)
        reject(std::to_string(urls.size()) + " URLs; at most 31 are allowed");
    std::vector<etcd_store::member_address> members;
    std::set<std::string> seen;
    for (const std::string& url : urls) {
        members.push_back(etcd_store::parse_url(url));
        const etcd_store::member_address& last = members.back();
        if (!seen.insert(last.name).second)
            reject(last.name + " is listed twice");
        // No server is ever used in plain text by mistake.
        if (last.secure && !has_tls)
            reject(last.name + " has the scheme https, and etcd_options::tls is not set; "
                               "holdfast::tls() of <holdfast/tls.hpp> makes it");
        if (!last.secure && has_tls)
            reject(last.name + " has the scheme http, and etcd_options::tls is set");
    }
    return members;
}

class etcd_factory final : public core::backend_factory {
public:
    explicit etcd_factory(etcd_store::lock_settings settings)
        : settings_(std::make_shared<const etcd_store::lock_settings>(std::move(settings)))
    {}

    std::unique_ptr<core::backend_core> make(std::uint64_t jitter_seed) const override
    {
        return std::make_unique<etcd_store::lock_core>(settings_, jitter_seed);
    }

private:
    std::shared_ptr<const etcd_store::lock_settings> settings_;
};

} // namespace

backend etcd(std::vector<std::string> urls, etcd_options options)
{
    check(options);
    etcd_store::lock_settings settings;
    settings.cluster.members = members_of(urls, options.tls.has_value());
    settings.cluster.user = std::move(options.user);
    settings.cluster.password = std::move(options.password);
    if (options.tls)
        settings.cluster.tls = options.tls->factory();
    settings.cluster.connect_timeout = options.connect_timeout;
    settings.cluster.reconnect_min = options.reconnect_min;
    settings.cluster.reconnect_max = options.reconnect_max;
    settings.key_prefix = std::move(options.key_prefix);
    settings.client_name = std::move(options.client_name);
    if (options.request_timeout)
        settings.request_timeout = *options.request_timeout;
    return backend(std::make_shared<etcd_factory>(std::move(settings)));
}

} // namespace holdfast
