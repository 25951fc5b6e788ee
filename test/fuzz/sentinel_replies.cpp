// The search for a primary, with sentinels that answer rightly, wrongly, late or not at all.
#include "redis/node/primary_search.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"
#include "fuzz/replies.hpp"
#include "fuzz/streams.hpp"
#include "redis/node/slot_table.hpp"
#include "support/times.hpp"

#include <boost/asio/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace holdfast::fuzz;
namespace core = holdfast::core;
namespace redis = holdfast::redis;

constexpr std::size_t sentinels = 3;
const std::string secret = "s3cret%word";

std::string reply_to_question(input& in)
{
    static constexpr std::string_view hosts[] = {
        "10.0.0.1", "10.0.0.2", "::1", "a.example", "", "?", "a b", "-"};
    static constexpr std::string_view ports[] = {"6379", "1", "65535", "65536", "0", "-1", "x", ""};
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
        return "*2\r\n" + blob(in.text(in.below(300))) + blob(in.text(in.below(8)));
    case 4:
        return "*-1\r\n";
    default:
        bytes = "*2\r\n" + blob(in.one_of(hosts));
        return bytes + blob(in.one_of(ports));
    }
}

std::string reply_to_login(input& in)
{
    return in.flag() ? "+OK\r\n" : "-ERR " + short_line(in) + secret + short_line(in) + "\r\n";
}

struct search final : redis::primary_search_owner {
    redis::sentinel_settings settings{};
    std::optional<redis::primary_search> under_test;
    const bool has_password;
    bool asking = false;

    explicit search(bool logs_in) : has_password(logs_in)
    {
        settings.service = "mymaster";
        for (std::size_t i = 0; i < sentinels; ++i) {
            redis::sentinel& s = settings.sentinels.emplace_back();
            s.where = {.host = "s", .port = static_cast<std::uint16_t>(1 + i), .path = {}};
            s.name = "s:" + std::to_string(1 + i);
            s.login = [logs_in] {
                return holdfast::credentials{.user = {}, .password = logs_in ? secret : ""};
            };
        }
        under_test.emplace(settings, *this);
    }

    void on_found(core::address where, core::time_point) override
    {
        check(asking, "a search ends once");
        check(redis::is_host(where.host) && where.port != 0 && where.path.empty(),
            "what is found is the address of a host");
        asking = false;
    }

    void on_not_found(redis::failure why, core::time_point) override
    {
        check(asking, "a search ends once");
        check_reason(why);
        asking = false;
    }

    void check_reason(const redis::failure& why) const
    {
        check(why.code.failed() && why.text.size() <= 1'000, "a failure has a short reason");
        check(is_loggable(why.text), "a reason can be logged");
        check(!has_password || why.text.find(secret) == std::string::npos,
            "no reason holds the password");
    }
};

// Ends the search in the time that it was given.
void run_once(search& s, input& in, bool logs_in, core::time_point& now)
{
    using namespace std::chrono_literals;
    s.asking = true;
    const core::time_point end = now + 2s;
    const core::time_point quarter = s.under_test->begin(now, end);
    for (core::connection* const each : s.under_test->connections()) {
        if (!s.asking)
            break;
        if (!each->wants_open())
            continue;
        if (in.below(8) == 0) {
            each->closed(boost::asio::error::connection_refused, now);
            continue;
        }
        each->opened(now);
        send_all(*each, now);
        if (logs_in)
            give(*each, reply_to_login(in), 1 + in.below(40), now);
        give(*each, reply_to_question(in), 1 + in.below(40), now);
    }
    for (const core::time_point due : {quarter, end}) {
        now = due;
        if (s.asking)
            s.under_test->settle(now);
    }
    if (s.asking) { // as the connection to the node does
        s.check_reason(s.under_test->why_not());
        s.under_test->stop();
        s.asking = false;
    }
    for (core::connection* const each : s.under_test->connections()) {
        check(!each->wants_open(), "no stream is wanted when the search is over");
        each->closed(boost::asio::error::operation_aborted, now);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    input in(data, size);
    const bool logs_in = in.flag();
    search s(logs_in);
    core::time_point now = holdfast::test::start;
    do {
        run_once(s, in, logs_in, now);
    } while (!in.empty());
    return 0;
}
