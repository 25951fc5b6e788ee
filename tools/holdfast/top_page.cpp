#include "holdfast/top_page.hpp"

#include "holdfast/reports.hpp"
#include "holdfast/text.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

using colour = console::colour;
using std::chrono::system_clock;

constexpr std::array<std::string_view, 4> order_names{"age", "ttl", "queue", "name"};

std::string clock_time()
{
    const std::time_t now = system_clock::to_time_t(system_clock::now());
    std::tm local{};
    ::localtime_r(&now, &local);
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%H:%M:%S", &local);
    return text.data();
}

const lock_owner* known(const listed_lock& lock)
{
    return lock.owner && !lock.owner->foreign ? &*lock.owner : nullptr;
}

// The summary, and a line for each node.
std::vector<std::string> header(const top_page& page, const console& out, std::size_t columns)
{
    table title, nodes;
    const auto connected = static_cast<std::size_t>(std::count_if(page.stats.nodes.begin(),
        page.stats.nodes.end(), [](const node_stats& each) { return each.connected; }));
    const auto held = static_cast<std::size_t>(std::count_if(page.found.locks.begin(),
        page.found.locks.end(), [](const listed_lock& each) { return each.held; }));
    std::size_t waiting = 0;
    for (const auto& [name, length] : page.queues)
        waiting += length;
    title.add({{"holdfast top"}, {clock_time()}, {visible(page.stats.store)},
        {std::to_string(connected) + " of " + std::to_string(page.stats.nodes.size()) +
                " nodes connected",
            connected == page.stats.nodes.size() ? colour::green : colour::red}});
    for (const node_stats& each : page.stats.nodes) {
        const auto& latency = each.latency;
        std::string times = "-";
        if (latency.count() != 0)
            times = "p50 " + milliseconds_of(latency.quantile(0.5)) + ", p99 " +
                    milliseconds_of(latency.quantile(0.99));
        table::cell state{"-"}; // not used, or not yet
        if (each.connected)
            state = {"connected", colour::green};
        else if (each.last_error)
            state = {"failed", colour::red};
        nodes.add({{visible(each.address)}, std::move(state), {times},
            {"errors " + std::to_string(each.errors) + ", restarts " +
                std::to_string(each.restarts)},
            {each.connected ? "" : visible(each.reason)}});
    }
    std::vector<std::string> lines = title.lines(out, columns);
    for (std::string& each : nodes.lines(out, columns))
        lines.push_back(std::move(each));

    table counts;
    if (!page.trouble.empty()) {
        counts.add({{visible(without_credentials(page.trouble)), colour::red}});
    } else {
        const std::string with =
            page.prefix.empty() ? "" : ", prefix \"" + visible(page.prefix) + "\"";
        counts.add(
            {{std::to_string(page.found.locks.size()) +
                 (page.found.locks.size() == 1 ? " lock, " : " locks, ") + std::to_string(held) +
                 " held, " + std::to_string(waiting) + " waiting, sorted by " +
                 std::string(order_names.at(static_cast<std::size_t>(page.order))) + with},
                {page.found.complete ? "" : "the list is incomplete", colour::yellow}});
    }
    for (std::string& each : counts.lines(out, columns))
        lines.push_back(std::move(each));
    lines.emplace_back();
    return lines;
}

std::vector<table::cell> row_of(
    const listed_lock& lock, const top_page& page, system_clock::time_point now)
{
    const auto queue = page.queues.find(lock.resource);
    const lock_owner* const owner = known(lock);
    return {{visible(lock.resource)}, {owner != nullptr ? age_of(owner->since, now) : "-"},
        {lock.held ? time_left(lock.ttl_left, lock.without_ttl) : "not held",
            lock.without_ttl ? colour::red
            : lock.held      ? colour::plain
                             : colour::yellow},
        {queue == page.queues.end() ? "?" : std::to_string(queue->second)},
        {lock.owner ? in_words(*lock.owner, lock.held) : "-"}};
}

} // namespace

top_order parse_top_order(std::string_view word)
{
    const auto* const found = std::find(order_names.begin(), order_names.end(), word);
    if (found == order_names.end())
        throw std::invalid_argument("--sort must be age, ttl, queue or name");
    return static_cast<top_order>(found - order_names.begin());
}

void top_page::sort()
{
    using number = long long;
    constexpr number last = std::numeric_limits<number>::max();
    const auto rank = [this](const listed_lock& lock) -> number {
        switch (order) {
        case top_order::age: {
            const lock_owner* const owner = known(lock);
            return owner == nullptr ? last : owner->since.time_since_epoch().count();
        }
        case top_order::ttl:
            return lock.ttl_left ? lock.ttl_left->count() : last;
        case top_order::queue: {
            const auto queue = queues.find(lock.resource);
            return queue == queues.end() ? last : -static_cast<number>(queue->second);
        }
        case top_order::name:
            break;
        }
        return 0;
    };
    std::sort(found.locks.begin(), found.locks.end(), [&](const auto& a, const auto& b) {
        return std::pair(rank(a), std::string_view(a.resource)) <
               std::pair(rank(b), std::string_view(b.resource));
    });
}

std::vector<std::string> lines_of(const top_page& page, const console& out, std::size_t rows,
    std::size_t columns, const std::string& hint)
{
    std::vector<std::string> lines = header(page, out, columns);
    const std::size_t used = lines.size() + 1 + (hint.empty() ? 0 : 1); // 1: the names of columns
    std::size_t shown = page.found.locks.size();
    if (rows != 0)
        shown = std::min(shown, rows > used ? rows - used : 0);

    const auto now = system_clock::now();
    table locks;
    locks.add({{"NAME"}, {"AGE"}, {"TTL LEFT"}, {"QUEUE"}, {"OWNER"}});
    for (std::size_t i = 0; i < shown; ++i)
        locks.add(row_of(page.found.locks[i], page, now));
    for (std::string& each : locks.lines(out, columns))
        lines.push_back(std::move(each));
    if (!hint.empty()) {
        if (rows != 0) // the hint is the last line of the screen
            lines.resize(std::max<std::size_t>(rows, 1) - 1);
        lines.push_back(columns == 0 ? hint : clipped(hint, columns));
    }
    return lines;
}

boost::json::object json_of(const top_page& page)
{
    boost::json::array nodes, locks;
    for (const node_stats& each : page.stats.nodes)
        nodes.push_back(json_of(each));
    for (const listed_lock& each : page.found.locks) {
        boost::json::object lock = json_of(each);
        const auto queue = page.queues.find(each.resource);
        lock["queue_length"] = queue == page.queues.end() ? boost::json::value(nullptr)
                                                          : boost::json::value(queue->second);
        locks.push_back(std::move(lock));
    }
    boost::json::object all{{"store", utf8(page.stats.store)},
        {"guarantee", name_of(page.stats.guarantee)}, {"nodes", std::move(nodes)},
        {"locks", std::move(locks)}, {"complete", page.found.complete}};
    all["error"] = page.trouble.empty()
                       ? boost::json::value(nullptr)
                       : boost::json::value(utf8(without_credentials(page.trouble)));
    return all;
}

} // namespace holdfast::cli
