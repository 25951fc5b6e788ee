#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::test {

/// What happens to the bytes that go one way. A piece is what one read gave, up to 4 KiB.
///
/// TCP does not go on after a gap, so that a connection which has lost bytes, or got others for
/// them, carries nothing more in this direction when the fault is over. It stays open.
struct stream_faults {
    std::chrono::milliseconds delay{0}; ///< each piece arrives so much later, and in order
    bool held = false;                  ///< nothing arrives; all of it once this is over
    bool lost = false;                  ///< nothing arrives, ever
    std::size_t bytes_per_second = 0;   ///< one byte at a time, at this rate; 0: no limit
    std::string instead{};              ///< arrives in place of each piece; empty: the piece does

    /// After so many more bytes of a connection have arrived, it is reset: what it carried is cut
    /// off there. New connections have as many.
    std::optional<std::size_t> reset_after{};
};

/// What happens to those who connect.
enum class newcomers {
    served,
    ignored, ///< accepted, and never answered
    refused, ///< "connection refused", as from a port without a server
};

struct link_faults {
    stream_faults to_server{}, to_client{};
    newcomers new_connections = newcomers::served;
};

/// A TCP proxy in front of a server on a loopback port, which does to connections what networks do.
///
/// It works on a thread of its own. All members may be called at any time, from one thread at a
/// time. What they change holds when they return, for open connections too; bytes that have arrived
/// before cannot be called back. When one side closes, the other sees it after the bytes that were
/// sent before, and not while its direction is held or lost. The destructor cuts all connections
/// and does not wait for anybody.
class fault_proxy {
public:
    /// Listens when it returns. The server may come and go: without it, connections are reset.
    explicit fault_proxy(std::uint16_t server_port);
    ~fault_proxy();
    fault_proxy(fault_proxy&&) noexcept;

    std::uint16_t port() const noexcept;
    std::string url() const; ///< "redis://127.0.0.1:<port>"

    /// The faults from now on, instead of those before; `{}` ends them all. Connections that were
    /// ignored remain so.
    void set(const link_faults& faults);

    void reset(); ///< all open connections, both sides, by RST; what was under way is gone
    void close(); ///< the same in order, by FIN, as a server that shuts down

    std::size_t connections(); ///< that are open now, ignored ones included

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace holdfast::test
