#include "verification/stores/zookeeper/talker.hpp"

#include "verification/stores/zookeeper/server.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <poll.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::zookeeper_simulation {

namespace wire = zookeeper_store::wire;

modelled_end::modelled_end(world& w, ensemble& all, std::size_t server)
    : world_(w),
      end_(all.at(server).accept())
{
    end_->on_output = [this](const std::string& bytes) {
        in_ += bytes;
    };
    end_->on_close = [this] {
        closed_ = true;
    };
}

modelled_end::~modelled_end()
{
    end_->on_output = nullptr;
    end_->on_close = nullptr;
    end_->close();
}

void modelled_end::send(const std::string& record)
{
    if (!closed_)
        end_->receive(wire::framed(record));
}

std::optional<std::string> modelled_end::receive()
{
    const time_point limit = world_.now() + 60s;
    for (;;) {
        if (in_.size() >= 4) {
            wire::jute_reader length(in_);
            const auto size = static_cast<std::size_t>(length.int32());
            std::string record = in_.substr(4, size);
            in_.erase(0, 4 + size);
            return record;
        }
        if (closed_)
            return std::nullopt;
        if (world_.now() > limit)
            throw std::runtime_error("the model does not answer");
        world_.run_until(world_.now() + 1ms);
    }
}

real_end::real_end(std::uint16_t port)
{
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
}

void real_end::send(const std::string& record)
{
    boost::system::error_code ignored; // receive() tells that it is closed
    boost::asio::write(socket_, boost::asio::buffer(wire::framed(record)), ignored);
}

// Empty at the end.
std::string real_end::read(std::size_t size)
{
    std::string in(size, '\0');
    std::size_t have = 0;
    while (have < size) {
        pollfd ready{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, 60'000) != 1)
            throw std::runtime_error("ZooKeeper does not answer");
        boost::system::error_code failed;
        have += socket_.read_some(boost::asio::buffer(in.data() + have, size - have), failed);
        if (failed)
            return {};
    }
    return in;
}

std::optional<std::string> real_end::receive()
{
    const std::string length = read(4);
    if (length.empty())
        return std::nullopt;
    return read(static_cast<std::size_t>(wire::jute_reader(length).int32()));
}

std::string talker::owner(std::int64_t session) const
{
    if (session == 0)
        return "nobody";
    const auto at = std::find(names->begin(), names->end(), session);
    return at == names->end() ? std::to_string(session)
                              : "session " + std::to_string(at - names->begin());
}

std::string talker::connect(const wire::connect_request& r)
{
    end_->send(wire::encode(r));
    const auto record = end_->receive();
    if (!record)
        return "closed";
    const auto reply = wire::read_connect_reply(*record);
    if (!reply)
        return "no reply";
    session_ = reply->session;
    password_ = reply->password;
    if (session_ != 0 && std::find(names->begin(), names->end(), session_) == names->end())
        names->push_back(session_);
    std::ostringstream s;
    s << reply->timeout_ms << " ms, " << owner(session_) << ", " << password_.size()
      << (reply->read_only ? ", read-only" : "");
    return s.str();
}

std::string talker::told(const wire::node_stat& n) const
{
    std::ostringstream s;
    s << " created " << n.created - base_ << ", modified " << n.modified - base_ << ", children "
      << n.children_modified - base_ << ", versions " << n.version << ' ' << n.children_version
      << ' ' << n.acl_version << ", of " << owner(n.owner) << ", " << n.data_length << " bytes, "
      << n.children << " children";
    return s.str();
}

std::string talker::told(const wire::request& r, const std::string& record)
{
    std::ostringstream s;
    const auto header = wire::read_header(record);
    if (!header)
        return "no header";
    if (header->number == wire::number::watch_event) {
        const auto event = wire::read_event(record);
        s << "event " << event->change << ' ' << event->state << ' ' << event->path << " at "
          << header->zxid;
        return s.str();
    }
    last_zxid_ = header->zxid;
    s << (header->number == r.number ? "answer " : "other answer ") << header->error << " at "
      << header->zxid - base_;
    last_ = {};
    if (header->error != 0)
        return s.str();
    auto body = wire::read_body(r.what, record);
    if (!body)
        return s.str();
    last_ = *body;
    std::sort(body->children.begin(), body->children.end());
    s << ' ' << body->path << ' ' << body->data;
    for (const std::string& each : body->children)
        s << ' ' << each;
    const bool has_stat = r.what != wire::operation::create && r.what != wire::operation::remove &&
                          r.what != wire::operation::get_children &&
                          r.what != wire::operation::sync &&
                          r.what != wire::operation::close_session;
    return s.str() + (has_stat ? told(body->stat) : "");
}

std::string talker::ask(wire::request r)
{
    if (r.what == wire::operation::ping)
        r.number = wire::number::ping;
    else if (r.what == wire::operation::authenticate)
        r.number = wire::number::authentication;
    else
        r.number = ++requests_;
    end_->send(wire::encode(r));
    std::string all;
    for (;;) {
        const auto record = end_->receive();
        if (!record)
            return all + "closed";
        const auto header = wire::read_header(*record);
        if (r.what == wire::operation::ping && header && header->number == r.number)
            return all;
        all += told(r, *record) + "; ";
        if (header && header->number == r.number)
            return all;
    }
}

std::string talker::events()
{
    return ask({.what = wire::operation::ping});
}

std::string talker::end()
{
    std::string all;
    while (const auto record = end_->receive())
        all += told({}, *record) + "; ";
    return all + "closed";
}

} // namespace holdfast::zookeeper_simulation
