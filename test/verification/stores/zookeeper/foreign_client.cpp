#include "verification/stores/zookeeper/foreign_client.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_simulation {

namespace wire = zookeeper_store::wire;

namespace {

const std::vector<wire::access> everybody{{31, "world", "anyone"}};

std::string last_name(std::string_view path)
{
    return std::string(path.substr(path.rfind('/') + 1));
}

// What it sorts by: the digits at the end.
std::string number_of(const std::string& child)
{
    return child.size() < 10 ? child : child.substr(child.size() - 10);
}

} // namespace

foreign_client::foreign_client(world& w, ensemble& all, int number, std::vector<std::string> queues)
    : world_(w),
      all_(all),
      name_("f" + std::to_string(number)),
      queues_(std::move(queues))
{}

void foreign_client::begin()
{
    connect();
}

void foreign_client::later(duration delay, void (foreign_client::*what)())
{
    world_.after(delay, [this, of = connections_, what] {
        if (of == connections_)
            (this->*what)();
    });
}

void foreign_client::connect()
{
    if (stopping_)
        return;
    ++connections_;
    in_.clear();
    sent_.clear();
    connected_ = false;
    node_.clear();
    link_ = std::make_shared<link>(world_, all_, world_.random.below(all_.size()));
    link_->on_bytes = [this, of = link_.get()](const std::string& bytes) {
        if (of == link_.get())
            received(bytes);
    };
    link_->on_break = [this, of = link_.get()] {
        if (of == link_.get())
            lost();
    };
    link_->open();
    link_->send(wire::framed(wire::encode(
        wire::connect_request{.timeout_ms = 4000, .password = std::string(16, '\0')})));
    later(5s, &foreign_client::lost);
}

// Its session ends by itself.
void foreign_client::lost()
{
    if (link_)
        link_->leave();
    link_ = nullptr;
    ++connections_;
    later(world_.random.of_any_size(10ms, 5s), &foreign_client::connect);
}

void foreign_client::received(const std::string& bytes)
{
    in_.append(bytes);
    while (const auto record = in_.next()) {
        handle(*record);
        if (!link_)
            return;
    }
}

void foreign_client::handle(std::string_view record)
{
    if (!connected_) {
        const auto r = wire::read_connect_reply(record);
        timeout_ms_ = r ? r->timeout_ms : 0;
        if (timeout_ms_ <= 0)
            return lost();
        connected_ = true;
        ++connections_; // it no longer waits for this
        ping();
        return rest();
    }
    const auto header = wire::read_header(record);
    if (!header || header->number == wire::number::ping)
        return;
    if (header->number == wire::number::watch_event)
        return look();
    const sent to = sent_.front();
    sent_.pop_front();
    handle_reply(to, header->error,
        header->error == 0 ? wire::read_body(to.what, record).value_or(wire::reply_body{})
                           : wire::reply_body{});
}

void foreign_client::ask(wire::request r)
{
    r.number = ++requests_;
    sent_.push_back({r.what, r.path});
    link_->send(wire::framed(wire::encode(r)));
}

void foreign_client::ping()
{
    if (stopping_) { // its session ends by itself
        ++connections_;
        return std::exchange(link_, nullptr)->leave();
    }
    link_->send(wire::framed(
        wire::encode(wire::request{.number = wire::number::ping, .what = wire::operation::ping})));
    later(std::chrono::milliseconds(timeout_ms_) / 3, &foreign_client::ping);
}

void foreign_client::rest()
{
    if (!stopping_)
        later(world_.random.of_any_size(1ms, 10s), &foreign_client::want);
}

void foreign_client::want()
{
    queue_ = queues_[world_.random.below(queues_.size())];
    if (world_.random.chance(0.1))
        return ask({.what = wire::operation::create2,
            .path = queue_ + "/a_note",
            .rights = everybody,
            .mode = wire::node_mode::ephemeral});
    ask({.what = wire::operation::create2,
        .path = queue_ + "/_c_" + name_ + "-" + std::to_string(++wishes_) + "-lock-",
        .rights = everybody,
        .mode = wire::node_mode::ephemeral_sequential});
}

void foreign_client::handle_reply(const sent& to, std::int32_t error, const wire::reply_body& body)
{
    switch (to.what) {
    case wire::operation::create2:
        if (error == wire::code::no_node) {
            for (const std::string& each : {test::zookeeper_tree::parent_of(queue_), queue_})
                ask({.what = wire::operation::create_container,
                    .path = each,
                    .rights = everybody,
                    .mode = wire::node_mode::container});
            return rest();
        }
        if (error != wire::code::ok)
            return rest();
        node_ = body.path;
        if (node_.ends_with("/a_note") || world_.random.chance(0.2))
            return give_back();
        if (world_.random.chance(0.3))
            later(world_.random.of_any_size(1ms, 3s), &foreign_client::write);
        return look();
    case wire::operation::get_children:
        return judge(body.children);
    case wire::operation::exists:
        if (error == wire::code::no_node)
            look();
        return;
    case wire::operation::remove:
        return rest();
    default:
        return;
    }
}

void foreign_client::look()
{
    if (!node_.empty())
        ask({.what = wire::operation::get_children, .path = queue_});
}

void foreign_client::judge(const std::vector<std::string>& children)
{
    const std::string mine = number_of(last_name(node_));
    std::string before;
    for (const std::string& each : children) {
        if (each.find("-lock-") != each.npos && number_of(each) < mine &&
            (before.empty() || number_of(each) > number_of(before)))
            before = each;
    }
    if (before.empty())
        later(world_.random.of_any_size(1ms, 3s), &foreign_client::give_back);
    else
        ask({.what = wire::operation::exists, .path = queue_ + "/" + before, .watch = true});
}

void foreign_client::write()
{
    if (!node_.empty())
        ask({.what = wire::operation::set_data, .path = node_, .data = "changed"});
}

void foreign_client::give_back()
{
    if (!node_.empty())
        ask({.what = wire::operation::remove, .path = std::exchange(node_, {})});
}

} // namespace holdfast::zookeeper_simulation
