#include <holdfast/metrics.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

namespace {

using std::string_view;

template <class Owner, class Value>
struct described {
    string_view name, help;
    Value Owner::*value;
};

constexpr described<locker_stats, std::uint64_t> counters[] = {
    {"holdfast_acquired_total", "Leases given to callers.", &locker_stats::acquired},
    {"holdfast_handed_over_total", "Leases transferred from one local holder to the next.",
        &locker_stats::handed_over},
    {"holdfast_resumed_total", "Leases taken again while they lingered.", &locker_stats::resumed},
    {"holdfast_attempts_total", "Attempts made at the nodes.", &locker_stats::attempts},
    {"holdfast_contended_total", "Attempts refused because others held the resource.",
        &locker_stats::contended},
    {"holdfast_unreachable_total", "Attempts that failed otherwise.", &locker_stats::unreachable},
    {"holdfast_renewals_total", "Renewals that a majority confirmed.", &locker_stats::renewals},
    {"holdfast_released_total", "Leases released by their holders.", &locker_stats::released},
    {"holdfast_lost_total", "Leases that ended while they were still held.", &locker_stats::lost},
    {"holdfast_suspensions_total", "Times that the machine was found to have been suspended.",
        &locker_stats::suspensions},
    {"holdfast_events_dropped_total", "Events that were not delivered.",
        &locker_stats::events_dropped},
};

constexpr described<locker_stats, std::size_t> gauges[] = {
    {"holdfast_held", "Leases held now.", &locker_stats::held},
    {"holdfast_lingering", "Leases kept now for the next acquire.", &locker_stats::lingering},
    {"holdfast_waiting", "Acquire calls that wait now.", &locker_stats::waiting},
    {"holdfast_asking", "Attempts under way now.", &locker_stats::asking},
    {"holdfast_asking_limit", "The limit of attempts under way.", &locker_stats::asking_limit},
};

constexpr described<locker_stats, histogram> histograms[] = {
    {"holdfast_queue_wait_seconds", "Time from the call of an acquire to its lease.",
        &locker_stats::queue_wait},
    {"holdfast_quorum_seconds", "Time from the requests of an attempt to their decision.",
        &locker_stats::quorum_time},
    {"holdfast_hold_seconds", "Time for which leases were held.", &locker_stats::hold_time},
    {"holdfast_validity_left_seconds", "What was left of leases when they were released.",
        &locker_stats::validity_left},
};

constexpr described<node_stats, bool> node_gauges[] = {
    {"holdfast_node_up", "1 if the node is connected and accepted, otherwise 0.",
        &node_stats::connected},
};

constexpr described<node_stats, std::uint64_t> node_counters[] = {
    {"holdfast_node_commands_total", "Requests sent.", &node_stats::commands},
    {"holdfast_node_timeouts_total", "Requests that were not answered in time.",
        &node_stats::timeouts},
    {"holdfast_node_connects_total", "Connections that were accepted as usable.",
        &node_stats::connects},
    {"holdfast_node_errors_total", "Error replies.", &node_stats::errors},
    {"holdfast_node_restarts_total", "Times that the server process was another one.",
        &node_stats::restarts},
    {"holdfast_node_clock_jumps_total", "Times that the clock of the node was set.",
        &node_stats::clock_jumps},
};

constexpr described<node_stats, histogram> node_histograms[] = {
    {"holdfast_node_latency_seconds", "Time from a request to its reply.", &node_stats::latency},
};

// Exact, because a binary fraction would change the bounds.
std::string in_seconds(std::uint64_t seconds, histogram::duration rest)
{
    std::string text = std::to_string(rest.count());
    text.insert(0, 9 - text.size(), '0');
    text.erase(text.find_last_not_of('0') + 1);
    return std::to_string(seconds) + (text.empty() ? "" : "." + text);
}

std::string in_seconds(histogram::duration d)
{
    constexpr std::chrono::seconds one(1);
    return in_seconds(static_cast<std::uint64_t>(d / one), d % one);
}

// The length of the UTF-8 character that `text` begins with; 0 if it does not begin with one.
std::size_t utf8_length(string_view text)
{
    const auto byte = [text](std::size_t i) {
        return static_cast<unsigned char>(text[i]);
    };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    const std::size_t length = first < 0xc2   ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    if (length == 0 || length > text.size())
        return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0u) != 0x80)
            return 0;
    const bool bad = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                     (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
    return bad ? 0 : length;
}

void append_label(std::string& out, string_view name, string_view value)
{
    if (!out.empty())
        out += ',';
    out.append(name) += "=\"";
    while (!value.empty()) {
        const std::size_t length = utf8_length(value);
        const char c = value.front();
        if (length == 0)
            out += "\xef\xbf\xbd"; // U+FFFD in place of a byte that would make the page invalid
        else if (c == '\n')
            out += "\\n";
        else if (c == '"' || c == '\\')
            (out += '\\') += c;
        else
            out += value.substr(0, length);
        value.remove_prefix(std::max<std::size_t>(length, 1));
    }
    out += '"';
}

// One metric of one owner: a locker, or a node of it.
template <class Owner>
struct source {
    const Owner* owner;
    std::string labels;
};

class page {
public:
    template <class Owner, class Value>
    void add(const described<Owner, Value>& metric, string_view type,
        const std::vector<source<Owner>>& sources)
    {
        if (sources.empty())
            return;
        describe(metric.name, metric.help, type);
        for (const source<Owner>& each : sources)
            sample(metric.name, each.labels, each.owner->*metric.value);
    }

    // The address may change: it is no label of the other metrics, which would begin anew then.
    void add_addresses(const std::vector<source<node_stats>>& nodes)
    {
        constexpr string_view name = "holdfast_node_info";
        if (nodes.empty())
            return;
        describe(name, "Always 1; the label address is where the node is now.", "gauge");
        for (const source<node_stats>& each : nodes) {
            std::string labels = each.labels;
            append_label(labels, "address", each.owner->address);
            line(name, {}, labels, "1");
        }
    }

    std::string take() { return std::move(text_); }

private:
    void describe(string_view name, string_view help, string_view type)
    {
        (text_ += "# HELP ").append(name).append(" ").append(help) += '\n';
        (text_ += "# TYPE ").append(name).append(" ").append(type) += '\n';
    }

    void line(string_view name, string_view suffix, string_view labels, string_view value)
    {
        text_.append(name).append(suffix);
        if (!labels.empty())
            (text_ += '{').append(labels) += '}';
        (text_ += ' ').append(value) += '\n';
    }

    void sample(string_view name, string_view labels, std::uint64_t value)
    {
        line(name, {}, labels, std::to_string(value));
    }

    void sample(string_view name, const std::string& labels, const histogram& h)
    {
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < histogram::buckets; ++i) {
            all += h.in(i);
            std::string with_bound = labels;
            append_label(with_bound, "le",
                i < histogram::bounds ? in_seconds(histogram::bound(i)) : std::string("+Inf"));
            line(name, "_bucket", with_bound, std::to_string(all));
        }
        line(name, "_sum", labels, in_seconds(h.sum_seconds(), h.sum_rest()));
        line(name, "_count", labels, std::to_string(all));
    }

    std::string text_;
};

std::string page_of(
    const std::vector<source<locker_stats>>& lockers, const std::vector<source<node_stats>>& nodes)
{
    page text;
    for (const auto& each : counters)
        text.add(each, "counter", lockers);
    for (const auto& each : gauges)
        text.add(each, "gauge", lockers);
    for (const auto& each : histograms)
        text.add(each, "histogram", lockers);
    text.add_addresses(nodes);
    for (const auto& each : node_gauges)
        text.add(each, "gauge", nodes);
    for (const auto& each : node_counters)
        text.add(each, "counter", nodes);
    for (const auto& each : node_histograms)
        text.add(each, "histogram", nodes);
    return text.take();
}

void add_locker(const locker_stats& stats, string_view label,
    std::vector<source<locker_stats>>& lockers, std::vector<source<node_stats>>& nodes)
{
    std::string labels;
    if (!label.empty())
        append_label(labels, "locker", label);
    for (const node_stats& node : stats.nodes) {
        std::string with_node = labels;
        append_label(with_node, "node", node.name.empty() ? node.address : node.name);
        nodes.push_back({&node, std::move(with_node)});
    }
    lockers.push_back({&stats, std::move(labels)});
}

} // namespace

std::string to_prometheus(const locker_stats& stats, std::string_view locker_label)
{
    std::vector<source<locker_stats>> lockers;
    std::vector<source<node_stats>> nodes;
    add_locker(stats, locker_label, lockers, nodes);
    return page_of(lockers, nodes);
}

std::string to_prometheus(std::span<const labelled_stats> all)
{
    std::vector<source<locker_stats>> lockers;
    std::vector<source<node_stats>> nodes;
    for (const labelled_stats& each : all)
        add_locker(each.stats, each.locker, lockers, nodes);
    return page_of(lockers, nodes);
}

} // namespace holdfast
