#pragma once

#include "support/cluster.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

// Shared by the rows. Each row is a fault that is caused on purpose, and the outcome that a user
// must see. For all of them: no operation ends later than its limit, no key of ours outlives its
// ttl, messages name the node and the cause, and no password or owner token is shown.
namespace holdfast::test {

/// How much later than its own limit an operation may end, on a busy machine.
inline constexpr auto slack = 5s;

/// Like the options of `cluster::store()`, for nodes of any kind.
inline redlock_options quick_options()
{
    redlock_options options;
    options.node_timeout = 500ms;
    options.connect_timeout = 500ms;
    options.reconnect_min = 20ms;
    options.reconnect_max = 200ms;
    return options;
}

inline lock_options with_ttl(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

/// With a guard time long enough for a busy machine to report a loss in time.
inline lock_options well_guarded(std::chrono::milliseconds ttl)
{
    lock_options options = with_ttl(ttl);
    options.guard = ttl / 3;
    return options;
}

inline lock_options unrenewed(std::chrono::milliseconds ttl)
{
    lock_options options = with_ttl(ttl);
    options.renewal = renewal::manual;
    return options;
}

/// Everything that a user can read about an error.
inline std::string all_texts(const locker_stats& stats, error_code ec = {})
{
    std::string all = ec.message() + "\n" + describe_nodes(stats);
    for (const node_stats& node : stats.nodes)
        all += "\n" + node.address + "\n" + node.reason + "\n" + node.last_error.message();
    return all;
}

/// An owner token has 32 characters of base64url; half of one would be too much. Words of messages
/// are shorter, or in lower case; so is the digest of a script, which is public.
inline bool shows_a_token(std::string_view text)
{
    const auto is_digit = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
    };
    const auto is_upper = [](char c) {
        return c >= 'A' && c <= 'Z';
    };
    std::size_t run = 0, upper = 0;
    for (const char c : text) {
        if (!is_digit(c) && !is_upper(c)) {
            run = upper = 0;
            continue;
        }
        if (is_upper(c))
            ++upper;
        if (++run >= 16 && upper >= 2 && upper < run)
            return true;
    }
    return false;
}

inline bool is_printable(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

inline void expect_no_secrets(
    const std::string& text, std::initializer_list<std::string_view> secrets = {})
{
    BOOST_TEST(!shows_a_token(text), text);
    for (const auto secret : secrets)
        BOOST_TEST(text.find(secret) == text.npos, text);
}

/// Expects that the node is named with the cause, in printable text.
inline void expect_blamed(const locker_stats& stats, const std::string& address,
    std::string_view cause, std::initializer_list<std::string_view> secrets = {})
{
    const auto text = describe_nodes(stats);
    const auto from = text.find(address + ": ");
    BOOST_REQUIRE_MESSAGE(from != text.npos, address << " is not in: " << text);
    const auto said = text.substr(from, text.find("; ", from) - from);
    BOOST_TEST(said.find(cause) != text.npos, "\"" << cause << "\" is not in: " << said);
    BOOST_TEST(is_printable(text), text);
    expect_no_secrets(all_texts(stats), secrets);
}

inline std::string address_of(const redis_server& node)
{
    return endpoint(node.url()).address();
}

/// The URL of a node, for a user with a password ("user:password" or ":password").
inline std::string url_for(const redis_server& node, const std::string& login)
{
    return "redis://" + login + "@" + address_of(node);
}

/// Waits for a condition, for up to `limit`. The library keeps running meanwhile.
template <class Condition>
asio::awaitable<bool> becomes_true(Condition condition, steady::duration limit = 10s)
{
    const auto deadline = steady::now() + limit;
    while (!condition()) {
        if (steady::now() > deadline)
            co_return false;
        co_await pause(2ms);
    }
    co_return true;
}

/// Waits until the cause is reported for a node, and checks the message.
inline task expect_blamed_soon(
    holdfast::locker& locker, const std::string& address, std::string_view cause)
{
    const bool said = co_await becomes_true(
        [&] { return describe_nodes(locker.stats()).find(cause) != std::string::npos; });
    BOOST_TEST(said);
    expect_blamed(locker.stats(), address, cause);
}

/// Waits until the locker is connected to all its nodes.
inline task connect_all(holdfast::locker& locker)
{
    auto all_connected = [&locker] {
        const auto nodes = locker.stats().nodes;
        return std::all_of(
            nodes.begin(), nodes.end(), [](const node_stats& node) { return node.connected; });
    };
    const bool connected = co_await becomes_true(all_connected);
    BOOST_REQUIRE_MESSAGE(connected, describe_nodes(locker.stats()));
}

/// Waits until the locker is connected to a majority of its nodes. Before that, `try_acquire()` may
/// fail with `errc::unreachable`.
inline task connect_majority(holdfast::locker& locker)
{
    auto majority_connected = [&locker] {
        const auto nodes = locker.stats().nodes;
        const auto connected = std::count_if(
            nodes.begin(), nodes.end(), [](const node_stats& node) { return node.connected; });
        return 2 * static_cast<std::size_t>(connected) > nodes.size();
    };
    const bool connected = co_await becomes_true(majority_connected);
    BOOST_REQUIRE_MESSAGE(connected, describe_nodes(locker.stats()));
}

/// Acquires, and expects an error in time. Returns the error.
inline asio::awaitable<error_code> fail_to_acquire(
    holdfast::lock lock, std::chrono::milliseconds wait)
{
    const auto begin = steady::now();
    auto [ec, none] = co_await lock.acquire(wait, no_throw);
    BOOST_TEST((steady::now() - begin < wait + slack));
    BOOST_TEST(bool(ec));
    BOOST_TEST(!none);
    co_return ec;
}

/// The same for an error that waiting cannot remove: it must be returned at once.
inline asio::awaitable<error_code> fail_at_once(holdfast::lock lock)
{
    const auto begin = steady::now();
    const error_code ec = co_await fail_to_acquire(lock, 60s);
    BOOST_TEST((steady::now() - begin < slack));
    co_return ec;
}

/// Acquires, extends and releases a lease, and expects that all of that succeeds.
inline task acquire_and_release(holdfast::lock lock)
{
    const auto begin = steady::now();
    lease held = co_await lock.acquire();
    BOOST_TEST((steady::now() - begin < slack));
    BOOST_TEST(held.held());
    co_await held.extend();
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

/// Acquires while a minority of the nodes has a fault, and expects that it makes no difference.
inline task acquire_beside_a_fault(scene& s)
{
    co_await acquire_and_release(s.lock(0));
    lease held = co_await s.lock(0).acquire();
    co_await connect_majority(s.locker(1));
    lease none = co_await s.lock(1).try_acquire();
    BOOST_TEST(!none);
    co_await held.release();
}

/// The number of calls of a command on a node, refusals included.
inline int calls_of(redis_server& node, const std::string& command)
{
    const auto all = node.command({"INFO", "commandstats"});
    const auto name = "cmdstat_" + command + ":calls=";
    const auto at = all.find(name);
    return at == all.npos ? 0 : std::stoi(all.substr(at + name.size()));
}

/// The resident memory of this process.
inline std::size_t resident_bytes()
{
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Whether a node has a key.
inline bool has_key(redis_server& node, const std::string& key)
{
    return node.command({"EXISTS", key}) == "1";
}

} // namespace holdfast::test
