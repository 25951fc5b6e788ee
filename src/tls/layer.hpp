#pragma once

#include "core/connection.hpp"
#include "tls/context.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>

namespace holdfast::tls_stream {

// TLS between an inner connection and the I/O layer, over buffers in memory. The inner connection
// is opened when the handshake has succeeded. Its bytes are encrypted when they are sent, so those
// of one turn are in as few records as possible. One record is under way at a time: a record that
// is sent in part tells the peer nothing, so its bytes count as written with its last one.
class layer final : public core::connection {
public:
    layer(core::connection& inner, std::shared_ptr<const context> shared, std::string host);

    const core::address& target() const noexcept override { return inner_.target(); }
    bool wants_open() const noexcept override { return !error_ && inner_.wants_open(); }
    core::time_point opening_ends() const noexcept override { return inner_.opening_ends(); }
    void opened(core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    std::span<char> read_space() override { return arrived_; }
    void received(std::size_t n, core::time_point now) override;
    std::size_t unsent() const noexcept override;
    void prepare_output() override;
    std::string_view output() const noexcept override;
    void written(std::size_t n, core::time_point now) override;

private:
    bool shake_hands(core::time_point now);
    void read(core::time_point now);
    void collect();
    void fail();

    core::connection& inner_;
    const std::shared_ptr<const context> context_;
    const std::string host_; // empty: that of the target
    ssl_stream ssl_;         // of the present connection
    bool established_ = false;
    error_code error_; // that has ended the present connection
    std::array<char, 16 * 1024> arrived_{};
    std::string out_; // encrypted
    std::size_t out_begin_ = 0;
    std::size_t taken_ = 0;     // bytes of the inner connection that are in `out_`
    std::size_t taken_end_ = 0; // where the record of these ends
    bool needs_input_ = false;  // before anything can be encrypted
};

} // namespace holdfast::tls_stream
