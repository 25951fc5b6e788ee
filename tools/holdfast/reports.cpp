#include "holdfast/reports.hpp"

#include "holdfast/text.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;
namespace json = boost::json;

template <class... Values>
std::string formatted(const char* format, Values... values)
{
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
}

constexpr std::string_view unconfirmed = " (unconfirmed)";

std::string hex_id(std::uint32_t id)
{
    return formatted("%08x", static_cast<unsigned>(id));
}

std::int64_t unix_seconds(system_clock::time_point when)
{
    return std::chrono::duration_cast<std::chrono::seconds>(when.time_since_epoch()).count();
}

json::value milliseconds_or_null(std::optional<milliseconds> length)
{
    return length ? json::value(length->count()) : json::value(nullptr);
}

template <class Value>
json::value or_null(const std::optional<Value>& value)
{
    return value ? json::value(*value) : json::value(nullptr);
}

json::value json_or_null(const std::optional<lock_owner>& owner)
{
    return owner ? json::value(json_of(*owner)) : json::value(nullptr);
}

std::int64_t microseconds_of(std::chrono::nanoseconds length)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(length).count();
}

} // namespace

std::string in_words(const lock_owner& owner)
{
    if (owner.foreign)
        return "another client";
    if (!owner.client)
        return owner.id == 0 ? "a locker without an id"
                             : "locker " + hex_id(owner.id) + " (no client record)";
    const client_info& client = *owner.client;
    std::string text = visible(client.host) + ", process " + std::to_string(client.pid) + " (" +
                       visible(client.program) + ")";
    if (!client.client_name.empty())
        text += ", " + visible(client.client_name);
    if (!owner.client_confirmed)
        text += unconfirmed;
    return text;
}

std::string in_words(const lock_owner& owner, bool held)
{
    std::string text = in_words(owner);
    if (!held && !text.ends_with(unconfirmed))
        text += unconfirmed;
    return text;
}

std::string age_of(system_clock::time_point since, system_clock::time_point now)
{
    return brief(std::max(
        std::chrono::duration_cast<milliseconds>(
            std::chrono::duration_cast<std::chrono::seconds>(std::max(since, now) - since)),
        milliseconds(0)));
}

std::string brief(milliseconds length)
{
    const long long ms = length.count(), s = ms / 1'000, m = s / 60, h = m / 60, d = h / 24;
    if (d != 0)
        return formatted("%lldd%02lldh", d, h % 24);
    if (h != 0)
        return formatted("%lldh%02lldm", h, m % 60);
    if (m != 0)
        return formatted("%lldm%02llds", m, s % 60);
    if (ms % 1'000 == 0)
        return formatted("%llds", s);
    return s != 0 ? formatted("%lld.%llds", s, ms % 1'000 / 100) : formatted("%lldms", ms);
}

std::string milliseconds_of(std::chrono::nanoseconds length)
{
    return formatted("%.2f ms", static_cast<double>(length.count()) / 1e6);
}

std::string time_left(std::optional<milliseconds> left, bool without_ttl)
{
    return without_ttl ? "no ttl" : left ? brief(*left) : "-";
}

std::string_view name_of(key_state state)
{
    constexpr std::array<std::string_view, 5> names{
        "unknown", "absent", "owner", "other", "conflict"};
    return names.at(static_cast<std::size_t>(state));
}

std::string_view name_of(guarantee what)
{
    constexpr std::array<std::string_view, 6> names{
        "unspecified", "majority", "one_node", "primary", "process", "consensus"};
    return names.at(static_cast<std::size_t>(what));
}

std::string utf8(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        // The longest beginning that is whole: visible() shows what is not as \x and two digits.
        std::size_t bytes = 1;
        const auto first = static_cast<unsigned char>(text[0]);
        if (first >= 0x80) {
            bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
            bytes = std::min(bytes, text.size());
            const std::string_view whole = text.substr(0, bytes);
            if (visible(whole).starts_with("\\x")) {
                out += "\xef\xbf\xbd";
                text.remove_prefix(1);
                continue;
            }
        }
        out += text.substr(0, bytes);
        text.remove_prefix(bytes);
    }
    return out;
}

void add_name(json::object& to, std::string_view resource)
{
    const std::string name = utf8(resource);
    to["resource"] = json::value(name);
    if (name == resource)
        return;
    std::string digits;
    for (const char each : resource)
        digits += formatted("%02x", static_cast<unsigned>(static_cast<unsigned char>(each)));
    to["resource_hex"] = json::value(digits);
}

json::object json_of(const lock_owner& owner)
{
    json::object all{{"foreign", owner.foreign}};
    all["id"] = owner.id == 0 ? json::value(nullptr) : json::value(hex_id(owner.id));
    all["since"] = owner.foreign ? json::value(nullptr) : json::value(unix_seconds(owner.since));
    all["mark"] = json::value(utf8(owner.mark));
    all["client"] = nullptr;
    all["client_confirmed"] = owner.client_confirmed;
    if (owner.client) {
        const client_info& client = *owner.client;
        all["client"] = json::object{{"host", utf8(client.host)}, {"pid", client.pid},
            {"program", utf8(client.program)}, {"client_name", utf8(client.client_name)},
            {"version", utf8(client.version)}, {"started", unix_seconds(client.started)}};
    }
    return all;
}

json::object json_of(const resource_report& report)
{
    json::object all;
    add_name(all, report.resource);
    all["held"] = report.held;
    all["having"] = report.having;
    all["majority"] = report.majority;
    all["owner"] = json_or_null(report.owner);
    all["ttl_left_ms"] = milliseconds_or_null(report.ttl_left);
    all["without_ttl"] = report.without_ttl;
    all["fence"] = or_null(report.fence);
    all["queue"] = nullptr;
    if (report.queue) {
        json::array waiters;
        for (const lock_owner& each : report.queue->waiters)
            waiters.push_back(json_of(each));
        all["queue"] = json::object{{"address", report.queue->address},
            {"length", report.queue->length}, {"waiters", std::move(waiters)}};
    }
    json::array nodes;
    for (const node_report& each : report.nodes) {
        json::object node{{"address", each.address}, {"key", name_of(each.key)}};
        node["error"] = each.error ? json::value(each.error.message()) : json::value(nullptr);
        node["ttl_left_ms"] = milliseconds_or_null(each.ttl_left);
        node["without_ttl"] = each.without_ttl;
        node["fence"] = or_null(each.fence);
        nodes.push_back(std::move(node));
    }
    all["nodes"] = std::move(nodes);
    return all;
}

json::object json_of(const listed_lock& lock)
{
    json::object all;
    add_name(all, lock.resource);
    all["held"] = lock.held;
    all["having"] = lock.having;
    all["owner"] = json_or_null(lock.owner);
    all["ttl_left_ms"] = milliseconds_or_null(lock.ttl_left);
    all["without_ttl"] = lock.without_ttl;
    return all;
}

json::object json_of(const node_stats& node)
{
    json::object all{{"address", node.address}, {"connected", node.connected}};
    all["reason"] = node.reason.empty() ? json::value(nullptr)
                                        : json::value(utf8(without_credentials(node.reason)));
    json::value latency(nullptr);
    if (node.latency.count() != 0)
        latency = json::object{{"count", node.latency.count()},
            {"p50", microseconds_of(node.latency.quantile(0.5))},
            {"p90", microseconds_of(node.latency.quantile(0.9))},
            {"p99", microseconds_of(node.latency.quantile(0.99))}};
    all["latency_us"] = std::move(latency);
    all["commands"] = node.commands;
    all["errors"] = node.errors;
    all["timeouts"] = node.timeouts;
    all["restarts"] = node.restarts;
    return all;
}

} // namespace holdfast::cli
