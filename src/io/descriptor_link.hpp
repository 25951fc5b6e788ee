#pragma once

#include "core/descriptor.hpp"
#include "io/look_up.hpp"
#include "io/transport.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace holdfast::io {

// Serves a descriptor: looks its name up and waits until its socket is ready.
//
// Waits on a duplicate of the socket. The library may close its own descriptor inside any call, and
// a descriptor that is registered with epoll must not be closed by others.
class descriptor_link final : public transport {
public:
    descriptor_link(
        transport_owner& owner, core::descriptor& served, const asio::any_io_executor& executor);

    bool follow(core::time_point now) override;
    void flush(core::time_point now) override;
    bool has_output() const noexcept override { return open_ && descriptor_.has_output(); }
    void close() noexcept override;
    void leave_socket() noexcept override;
    core::time_point read_until(core::time_point now) const noexcept override
    {
        return duplicate_.is_open() ? read_until_ : now;
    }
    void note_empty(core::time_point now) override;
    void confirm_empty() noexcept override;

private:
    void open(core::time_point now);
    bool renew_duplicate(core::time_point now);
    void wait_for(core::readiness what);
    void on_ready(core::readiness what);
    void broken(error_code why, core::time_point now);

    handler_guard guarded_; // its handlers belong to the present duplicate
    handler_guard looking_up_;
    core::descriptor& descriptor_;
    std::map<std::string, look_up> look_ups_; // by host and port: the target may change
    asio::posix::stream_descriptor duplicate_;
    std::uint64_t incarnation_ = 0; // of the socket that is duplicated
    core::readiness waiting_ = core::readiness::none;
    core::time_point read_until_{}, seemed_empty_at_{};
    bool open_ = false;
};

} // namespace holdfast::io
