// gRPC over HTTP/2, with a server that sends anything. What arrives does not depend on how the
// bytes are split, and each call ends at most once.
#include "etcd/wire/grpc.hpp"

#include "fuzz/checks.hpp"
#include "fuzz/input.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast::fuzz;
using holdfast::etcd_store::wire::arrival;
using holdfast::etcd_store::wire::grpc_calls;
using holdfast::etcd_store::wire::stream_id;

// What arrives from one call.
struct course {
    std::vector<std::string> messages;
    std::optional<arrival> end;
};

// All that arrives if the bytes come in pieces of this size.
std::map<stream_id, course> feed(std::string_view bytes, std::size_t piece)
{
    grpc_calls calls("host:1", false);
    const stream_id unary = calls.begin("/a/B", "question", {});
    const stream_id stream = calls.begin("/a/C", "first", {.more_messages = true});
    calls.take_output();

    std::map<stream_id, course> all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const bool good = calls.receive(bytes.substr(at, piece));
        while (const auto each = calls.next()) {
            check(each->call == unary || each->call == stream, "only of known calls");
            course& c = all[each->call];
            check(!c.end, "nothing after the end of a call");
            check(each->ended || each->text.size() <= bytes.size(), "no message from nothing");
            if (each->ended)
                c.end = *each;
            else
                c.messages.push_back(each->text);
        }
        calls.take_output();
        check(good == calls.trouble().empty(), "a reason for each failure");
        if (!good)
            break;
    }
    return all;
}

// An error of the protocol ends a call, or all of them, when the bytes that arrived together are
// read. So calls may end earlier if the bytes come in smaller pieces.
void compare(const course& whole, const course& split)
{
    const std::size_t same = std::min(whole.messages.size(), split.messages.size());
    check(std::equal(whole.messages.begin(), whole.messages.begin() + static_cast<long>(same),
              split.messages.begin()),
        "the same messages, however the bytes are split");
    if (!whole.end || !split.end || *whole.end->ended < 0 || *split.end->ended < 0)
        return;
    check(whole.messages.size() == split.messages.size(), "all messages come before the end");
    check(whole.end->ended == split.end->ended && whole.end->text == split.end->text,
        "the same end, however the bytes are split");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.empty())
        return 0;
    const auto whole = feed(bytes, bytes.size());
    const auto split = feed(bytes, 1 + static_cast<unsigned char>(bytes.front()) % 16);
    for (const auto& [id, one] : whole) {
        const auto other = split.find(id);
        if (other != split.end())
            compare(one, other->second);
    }
    return 0;
}
