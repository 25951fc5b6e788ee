#include "io/descriptor_link.hpp"

#include "io/clock.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

namespace holdfast::io {

using core::readiness;

namespace {

bool is_readable(int handle) noexcept
{
    pollfd one{.fd = handle, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 0) != 0;
}

} // namespace

descriptor_link::descriptor_link(
    transport_owner& owner, core::descriptor& served, const asio::any_io_executor& executor)
    : guarded_(owner),
      looking_up_(owner),
      descriptor_(served),
      duplicate_(executor)
{}

bool descriptor_link::follow(core::time_point now)
{
    bool changed = false;
    if (const bool wanted = descriptor_.wants_open(); wanted != open_) {
        if (wanted)
            open(now);
        else
            broken(asio::error::operation_aborted, now);
        changed = true;
    }
    if (open_ && descriptor_.incarnation() != incarnation_)
        changed = renew_duplicate(now) || changed;
    if (duplicate_.is_open()) {
        const readiness wanted = descriptor_.wants();
        for (const readiness each : {readiness::readable, readiness::writable})
            if (includes(wanted, each) && !includes(waiting_, each))
                wait_for(each);
    }
    return changed;
}

void descriptor_link::open(core::time_point now)
{
    open_ = true;
    incarnation_ = descriptor_.incarnation();
    const core::address& where = descriptor_.target();
    error_code not_an_address;
    asio::ip::make_address(where.host, not_an_address);
    if (!where.path.empty())
        return descriptor_.open({}, now);
    if (!not_an_address)
        return descriptor_.open({&where.host, 1}, now);
    look_up& named = look_ups_[where.host + " " + std::to_string(where.port)];
    named.start(duplicate_.get_executor(), where.host, where.port,
        looking_up_([this](error_code ec, const look_up::endpoints& found) {
            if (ec)
                return broken(ec, io::now());
            std::vector<std::string> addresses;
            for (const asio::ip::tcp::endpoint& each : found)
                addresses.push_back(each.address().to_string());
            descriptor_.open(addresses, io::now());
        }));
}

// True if that changed the state of the descriptor.
bool descriptor_link::renew_duplicate(core::time_point now)
{
    guarded_.dismiss();
    error_code ignored;
    duplicate_.close(ignored);
    waiting_ = readiness::none;
    incarnation_ = descriptor_.incarnation();
    if (descriptor_.handle() < 0)
        return false;
    const int copy = ::fcntl(descriptor_.handle(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        broken(error_code(errno, boost::system::system_category()), now);
        return true;
    }
    error_code ec;
    duplicate_.assign(copy, ec);
    if (ec) {
        ::close(copy);
        broken(ec, now);
        return true;
    }
    read_until_ = seemed_empty_at_ = now;
    return false;
}

void descriptor_link::wait_for(readiness what)
{
    waiting_ = waiting_ | what;
    duplicate_.async_wait(what == readiness::readable ? asio::posix::stream_descriptor::wait_read
                                                      : asio::posix::stream_descriptor::wait_write,
        guarded_([this, what](error_code ec) { on_ready(ec ? readiness::both : what); }));
}

void descriptor_link::on_ready(readiness what)
{
    const core::time_point now = io::now();
    waiting_ =
        static_cast<readiness>(static_cast<unsigned>(waiting_) & ~static_cast<unsigned>(what));
    // The library may not wait for this any more.
    if (what != readiness::both && !includes(descriptor_.wants(), what))
        return;
    descriptor_.ready(what, now);
    if (includes(what, readiness::readable) && duplicate_.is_open() &&
        !is_readable(duplicate_.native_handle()))
        read_until_ = now;
}

void descriptor_link::flush(core::time_point now)
{
    if (has_output())
        descriptor_.flush(now);
}

void descriptor_link::close() noexcept
{
    guarded_.dismiss();
    looking_up_.dismiss();
    for (auto& [name, each] : look_ups_)
        each.forget();
    open_ = false;
    waiting_ = readiness::none;
    error_code ignored;
    duplicate_.close(ignored);
}

// The library's calls on it fail from then on.
void descriptor_link::leave_socket() noexcept
{
    close();
    if (descriptor_.handle() < 0)
        return;
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) {
        ::close(descriptor_.handle());
        return;
    }
    ::dup2(nothing, descriptor_.handle());
    ::fcntl(descriptor_.handle(), F_SETFD, FD_CLOEXEC);
    ::close(nothing);
}

void descriptor_link::broken(error_code why, core::time_point now)
{
    close();
    descriptor_.closed(why, now);
}

void descriptor_link::note_empty(core::time_point now)
{
    if (duplicate_.is_open() && !is_readable(duplicate_.native_handle()))
        seemed_empty_at_ = now;
}

void descriptor_link::confirm_empty() noexcept
{
    read_until_ = std::max(read_until_, seemed_empty_at_);
}

} // namespace holdfast::io
