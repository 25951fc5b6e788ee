// The readers of ZooKeeper's messages: no bytes do harm, what is read was there, and it does not
// depend on how the bytes are split.
#include "zookeeper/wire/jute.hpp"
#include "zookeeper/wire/messages.hpp"

#include "fuzz/checks.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace holdfast::fuzz;
namespace wire = holdfast::zookeeper_store::wire;

constexpr wire::operation operations[] = {wire::operation::create, wire::operation::remove,
    wire::operation::exists, wire::operation::get_data, wire::operation::set_data,
    wire::operation::get_children, wire::operation::sync, wire::operation::ping,
    wire::operation::get_children2, wire::operation::create2, wire::operation::create_container,
    wire::operation::authenticate, wire::operation::close_session};

std::vector<std::string> records_of(std::string_view bytes, std::size_t piece)
{
    wire::frame_reader in(1024);
    std::vector<std::string> all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        in.append(bytes.substr(at, piece));
        while (const auto record = in.next())
            all.emplace_back(*record);
    }
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check(records_of(bytes, 1) == records_of(bytes, size + 1), "the same in any pieces");

    const auto header = wire::read_header(bytes);
    check(header.has_value() == (size >= 16), "a header has 16 bytes");
    for (const wire::operation what : operations) {
        const auto body = wire::read_body(what, bytes);
        if (!body)
            continue;
        std::size_t all = body->path.size() + body->data.size();
        for (const std::string& each : body->children)
            all += each.size() + 4;
        check(all <= size, "no more than the bytes");
        const auto again = wire::read_body(what, wire::encode(*header, what, *body));
        check(again && again->path == body->path && again->data == body->data &&
                  again->children == body->children && again->stat == body->stat,
            "a reply is the same when it is written and read again");
    }
    if (const auto request = wire::read_request(bytes)) {
        check(request->rights.size() * 12 <= size, "no more rights than bytes");
        const auto again = wire::read_request(wire::encode(*request));
        check(again && again->path == request->path && again->data == request->data,
            "a request is the same when it is written and read again");
    }
    if (const auto event = wire::read_event(bytes))
        check(event->path.size() <= size, "a path that was there");
    if (const auto reply = wire::read_connect_reply(bytes))
        check(reply->password.size() <= size, "a password that was there");
    (void)wire::read_connect_request(bytes);
    return 0;
}
