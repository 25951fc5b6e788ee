// What members of a cluster say of slots: tables, and requests that are sent elsewhere.
#include "redis/node/slots_search.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/replies.hpp"
#include "fuzz/streams.hpp"
#include "redis/node/redirection.hpp"
#include "support/times.hpp"

#include <boost/asio/error.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace {

using namespace holdfast::fuzz;
using namespace std::chrono_literals;
namespace core = holdfast::core;
namespace redis = holdfast::redis;
namespace resp = holdfast::resp;

const std::string secret = "s3cret%word";

std::string host(input& in)
{
    static constexpr std::string_view hosts[] = {
        "10.0.0.1", "10.0.0.2", "::1", "b.example", "", "?", "a b", "-"};
    const std::string some(in.text(in.below(20)));
    // A member's name is part of reasons, even if it equals the password.
    const bool is_usable = in.below(4) == 0 && some.find(secret) == some.npos;
    return is_usable ? some : std::string(in.one_of(hosts));
}

std::int64_t any_port(input& in)
{
    static constexpr std::int64_t ports[] = {7001, 7002, 1, 65535, 65536, 0, -1, 70'000};
    return in.one_of(ports);
}

// Mostly like the answer to CLUSTER SLOTS.
std::string table(input& in)
{
    const std::size_t count = in.below(5);
    std::string bytes = "*" + std::to_string(count) + "\r\n";
    std::size_t first = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t nodes = 1 + in.below(2);
        const std::size_t last = first + in.wide() % 6'000;
        bytes += "*" + std::to_string(2 + nodes) + "\r\n";
        bytes += number(static_cast<std::int64_t>(first)) + number(static_cast<std::int64_t>(last));
        for (std::size_t k = 0; k < nodes; ++k) {
            const bool more = in.flag();
            bytes += more ? "*4\r\n" : "*2\r\n";
            const std::string where = host(in);
            bytes += in.below(8) == 0 ? "$-1\r\n" : blob(where);
            bytes += number(any_port(in));
            if (more)
                bytes += blob("id"), append_value(bytes, in);
        }
        first = last + in.below(3);
    }
    return bytes;
}

std::string reply_to_question(input& in)
{
    std::string bytes;
    switch (in.below(8)) {
    case 0:
        return std::string(common_reply(in));
    case 1:
        append_value(bytes, in);
        return bytes;
    case 2:
        return std::string(in.text(in.byte()));
    case 3:
        return "-ERR This instance has cluster support disabled\r\n";
    default:
        return table(in);
    }
}

void check_table(const redis::slot_table& t)
{
    check(!t.primaries().empty() && t.primaries().size() <= redis::slot_table::most_primaries,
        "a table has a limited number of primaries");
    for (const core::address& each : t.primaries())
        check(each.port != 0 && each.path.empty() && redis::is_host(each.host),
            "a primary has a host and a port");
    for (std::uint32_t slot = 0; slot < redis::hash_slots; ++slot)
        check(t.owner_of(slot) == redis::slot_table::nobody ||
                  t.owner_of(slot) < t.primaries().size(),
            "the owner of a slot is one of the primaries");
}

struct world final : redis::slots_search_owner {
    redis::node_settings settings{};
    redis::slots_search search;
    bool told = false;

    explicit world(bool logs_in)
        : settings{.where = {},
              .name = "redis cluster",
              .user = {},
              .password = logs_in ? secret : "",
              .client_name = {},
              .connect_timeout = 2s,
              .reconnect_min = 50ms,
              .reconnect_max = 2s},
          search({{.host = "seed", .port = 1, .path = {}}, {.host = "seed", .port = 2, .path = {}}},
              settings, *this, 1)
    {}

    void on_table(core::time_point) override
    {
        told = true;
        check(search.has_table(), "a table is there when it is told");
        check_table(search.table());
    }
    void on_no_table(core::time_point) override
    {
        told = true;
        check(search.has_failed(), "a failed search has a reason");
    }

    void check_reason() const
    {
        const std::string& text = search.why_not().text;
        check(is_loggable(text), "a reason can be logged");
        check(settings.password.empty() || text.find(secret) == std::string::npos,
            "no reason holds the password");
    }
};

// Until the search has an answer, or has asked all members in vain.
void run_once(world& w, input& in, bool logs_in, core::time_point& now)
{
    w.told = false;
    w.search.want(now);
    core::connection& c = w.search.connection();
    for (int steps = 0; !w.told; ++steps) {
        check(steps < 4'000, "a search ends");
        if (w.search.wake_at() != core::never && !c.wants_open()) {
            now = std::max(now, w.search.wake_at());
            w.search.wake(now);
        }
        if (!c.wants_open())
            continue;
        if (in.below(8) == 0) {
            c.closed(boost::asio::error::connection_refused, now);
            continue;
        }
        c.opened(now);
        send_all(c, now);
        const std::size_t piece = 1 + in.below(60);
        if (logs_in && c.wants_open())
            give(c, in.flag() ? "+OK\r\n" : "-ERR " + short_line(in) + secret + "\r\n", piece, now);
        give(c, reply_to_question(in), piece, now);
        if (c.wants_open()) { // silent
            now = std::max(now, w.search.wake_at());
            w.search.wake(now);
        }
        check(!c.wants_open(), "no stream is wanted for longer than the timeout");
        c.closed(boost::asio::error::operation_aborted, now);
    }
    w.check_reason();
}

void check_redirection(input& in)
{
    static constexpr std::string_view kinds[] = {"ASK", "MOVED", "TRYAGAIN", "ASKING", ""};
    static constexpr std::string_view slots[] = {"0", "16383", "16384", "-1", "007", "x", ""};
    std::string text(in.one_of(kinds));
    text += " " + std::string(in.one_of(slots));
    text += " " + host(in);
    text += ":" + std::to_string(any_port(in));
    if (in.below(4) == 0)
        text = in.text(in.below(60));
    const auto read = redis::read_redirection(text, "asked");
    if (!read)
        return;
    check(text.starts_with("ASK ") == read->asks, "ASK and MOVED are told apart");
    check(read->slot < redis::hash_slots, "a slot is one of a cluster");
    check(redis::is_host(read->to.host) && read->to.port != 0, "a target has a host and a port");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    const bool logs_in = in.flag();
    world w(logs_in);
    core::time_point now = holdfast::test::start;
    do {
        check_redirection(in);
        run_once(w, in, logs_in, now);
    } while (!in.empty());
    return 0;
}
