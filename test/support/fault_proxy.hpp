#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::test {

/// Faults in one direction of a connection. A piece is the result of one read, up to 4 KiB.
///
/// TCP does not continue after a gap. So a connection that has lost bytes, or got other bytes in
/// their place, transmits nothing more in this direction after the fault. It stays open.
struct stream_faults {
    std::chrono::milliseconds delay{0}; ///< each piece arrives this much later, rounded up to 1 ms
    bool held = false;                  ///< nothing arrives until this ends, then everything
    bool lost = false;                  ///< nothing arrives, ever
    std::size_t bytes_per_second = 0;   ///< one byte at a time, at this rate; 0: no limit
    std::string instead{};              ///< arrives in place of each piece; empty: no replacement

    /// After this many more bytes of a connection have arrived, it is reset, and the rest is lost.
    /// New connections have the same limit.
    std::optional<std::size_t> reset_after{};
};

/// What happens to new connections.
enum class newcomers {
    served,
    ignored, ///< accepted, but never answered
    refused, ///< "connection refused", as from a port without a server
};

struct link_faults {
    stream_faults to_server{}, to_client{};
    newcomers new_connections = newcomers::served;
};

/// A TCP proxy in front of a server on a loopback port. It causes network faults in connections.
///
/// It works on its own thread. All members may be called at any time, from one thread at a time.
/// Their changes are in effect when they return, for open connections too. Bytes that have arrived
/// before cannot be recalled. When one side closes, the other side sees that after the bytes that
/// were sent before, but not while its direction is held or lost. The destructor cuts all
/// connections and does not wait for clients.
class fault_proxy {
public:
    /// Listens when it returns. The server may stop and start: without it, connections are reset.
    explicit fault_proxy(std::uint16_t server_port);
    ~fault_proxy();
    fault_proxy(fault_proxy&&) noexcept;

    std::uint16_t port() const noexcept;
    std::string url() const; ///< "redis://127.0.0.1:<port>"

    /// Replaces the faults by these; `{}` ends them all. Connections that were ignored remain
    /// ignored.
    void set(const link_faults& faults);

    void reset(); ///< all open connections, both sides, by RST; bytes in transit are lost
    void close(); ///< the same orderly, by FIN, as when a server shuts down

    std::size_t connections(); ///< the number of open connections, ignored ones included

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace holdfast::test
