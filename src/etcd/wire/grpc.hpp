#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

struct nghttp2_session;

namespace holdfast::etcd_store::wire {

// Identifies a call on one connection; 0: none.
using stream_id = std::int32_t;

// The codes of gRPC that matter here.
namespace status {
inline constexpr int ok = 0, unknown = 2, invalid_argument = 3, deadline_exceeded = 4,
                     not_found = 5, permission_denied = 7, resource_exhausted = 8,
                     failed_precondition = 9, unimplemented = 12, unavailable = 14,
                     unauthenticated = 16;
} // namespace status

// What the server has sent: a message of a call, or the end of the call.
struct arrival {
    stream_id call = 0;
    std::optional<int> ended; // with this status; -1: the server sent none
    std::string text;         // the message, or the reason of the end
};

// The calls of gRPC over one connection of HTTP/2: bytes in, bytes out. It makes calls and does not
// serve any.
class grpc_calls {
public:
    // One message of a server may be so long. Nothing that is asked for comes near it.
    static constexpr std::size_t longest_message = 4 * 1024 * 1024;

    // `authority`: of the server, `secure`: over TLS.
    grpc_calls(std::string authority, bool secure);
    ~grpc_calls();
    grpc_calls(const grpc_calls&) = delete;
    grpc_calls& operator=(const grpc_calls&) = delete;

    struct metadata {
        std::string_view token{};   // of the login; empty: none
        bool needs_leader = false;  // the call ends if the server loses its leader
        bool more_messages = false; // others follow, by send()
    };
    // Begins a call with its first message. 0 if this connection can make no more calls.
    stream_id begin(std::string_view path, std::string_view message, const metadata& about);
    void send(stream_id call, std::string_view message);
    // Ends a call. Nothing more arrives from it.
    void cancel(stream_id call);

    // False if the connection has to be closed; trouble() says why.
    [[nodiscard]] bool receive(std::string_view bytes);
    const std::string& trouble() const noexcept { return trouble_; }
    // The server accepts no more calls. What is under way may still be answered.
    bool going_away() const noexcept { return going_away_; }

    std::optional<arrival> next();

    // Whether there is anything to send.
    bool has_output() const noexcept;
    // All that is to be sent now.
    std::string take_output();

private:
    struct callbacks;
    struct call {
        std::string out;      // framed messages
        std::size_t sent = 0; // of them
        bool more = false;    // messages may follow
        std::string in;       // a message that has not arrived completely
        int http = 0, code = -1;
        std::string reason;
    };

    void collect_output();
    bool read_messages(stream_id id, call& of);
    void over(stream_id id, std::uint32_t error);

    const std::string authority_;
    const bool secure_;
    nghttp2_session* session_ = nullptr;
    std::unordered_map<stream_id, call> calls_;
    std::deque<arrival> arrivals_;
    std::string out_; // collected
    std::string trouble_;
    bool going_away_ = false;
};

} // namespace holdfast::etcd_store::wire
