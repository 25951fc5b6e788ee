#include "zookeeper/wire/messages.hpp"

#include "zookeeper/wire/jute.hpp"

#include <utility>

namespace holdfast::zookeeper_store::wire {

namespace {

constexpr std::size_t header_size = 16;

void write(jute_writer& out, const reply_header& header)
{
    out.int32(header.number);
    out.int64(header.zxid);
    out.int32(header.error);
}

void write(jute_writer& out, const node_stat& stat)
{
    out.int64(stat.created);
    out.int64(stat.modified);
    out.int64(stat.created_ms);
    out.int64(stat.modified_ms);
    out.int32(stat.version);
    out.int32(stat.children_version);
    out.int32(stat.acl_version);
    out.int64(stat.owner);
    out.int32(stat.data_length);
    out.int32(stat.children);
    out.int64(stat.children_modified);
}

node_stat read_stat(jute_reader& in)
{
    node_stat stat;
    stat.created = in.int64();
    stat.modified = in.int64();
    stat.created_ms = in.int64();
    stat.modified_ms = in.int64();
    stat.version = in.int32();
    stat.children_version = in.int32();
    stat.acl_version = in.int32();
    stat.owner = in.int64();
    stat.data_length = in.int32();
    stat.children = in.int32();
    stat.children_modified = in.int64();
    return stat;
}

void write(jute_writer& out, const std::vector<access>& rights)
{
    out.int32(static_cast<std::int32_t>(rights.size()));
    for (const access& each : rights) {
        out.int32(each.permissions);
        out.text(each.scheme);
        out.text(each.id);
    }
}

std::vector<access> read_rights(jute_reader& in)
{
    constexpr std::size_t shortest = 12;
    std::vector<access> rights(in.count(shortest));
    for (access& each : rights) {
        each.permissions = in.int32();
        each.scheme = in.text();
        each.id = in.text();
    }
    return rights;
}

std::vector<std::string> read_children(jute_reader& in)
{
    constexpr std::size_t shortest = 4;
    std::vector<std::string> children(in.count(shortest));
    for (std::string& each : children)
        each = in.text();
    return children;
}

void write_children(jute_writer& out, const std::vector<std::string>& children)
{
    out.int32(static_cast<std::int32_t>(children.size()));
    for (const std::string& each : children)
        out.text(each);
}

bool has_path(operation what) noexcept
{
    return what != operation::ping && what != operation::close_session &&
           what != operation::authenticate;
}

bool creates(operation what) noexcept
{
    return what == operation::create || what == operation::create2 ||
           what == operation::create_container;
}

bool can_watch(operation what) noexcept
{
    return what == operation::exists || what == operation::get_data ||
           what == operation::get_children || what == operation::get_children2;
}

bool is_known(std::int32_t what) noexcept
{
    switch (static_cast<operation>(what)) {
    case operation::create:
    case operation::remove:
    case operation::exists:
    case operation::get_data:
    case operation::set_data:
    case operation::get_children:
    case operation::sync:
    case operation::ping:
    case operation::get_children2:
    case operation::create2:
    case operation::create_container:
    case operation::authenticate:
    case operation::close_session:
        return true;
    }
    return false;
}

template <class Message>
std::optional<Message> if_good(const jute_reader& in, Message&& read)
{
    if (!in.good())
        return std::nullopt;
    return std::forward<Message>(read);
}

} // namespace

std::string encode(const connect_request& r)
{
    jute_writer out;
    out.int32(0); // the version of the protocol
    out.int64(r.last_zxid);
    out.int32(r.timeout_ms);
    out.int64(r.session);
    out.text(r.password);
    out.boolean(r.read_only);
    return out.encoded();
}

std::string encode(const connect_reply& r)
{
    jute_writer out;
    out.int32(0);
    out.int32(r.timeout_ms);
    out.int64(r.session);
    out.text(r.password);
    out.boolean(r.read_only);
    return out.encoded();
}

std::string encode(const request& r)
{
    jute_writer out;
    out.int32(r.number);
    out.int32(static_cast<std::int32_t>(r.what));
    if (has_path(r.what))
        out.text(r.path);
    if (creates(r.what)) {
        out.text(r.data);
        write(out, r.rights);
        out.int32(static_cast<std::int32_t>(r.mode));
    } else if (r.what == operation::set_data) {
        out.text(r.data);
        out.int32(r.version);
    } else if (r.what == operation::remove) {
        out.int32(r.version);
    } else if (can_watch(r.what)) {
        out.boolean(r.watch);
    } else if (r.what == operation::authenticate) {
        out.int32(0); // not used
        out.text(r.scheme);
        out.text(r.data);
    }
    return out.encoded();
}

std::string encode(const reply_header& header)
{
    jute_writer out;
    write(out, header);
    return out.encoded();
}

std::string encode(const reply_header& header, operation what, const reply_body& body)
{
    jute_writer out;
    write(out, header);
    switch (what) {
    case operation::create:
    case operation::sync:
        out.text(body.path);
        break;
    case operation::create2:
    case operation::create_container:
        out.text(body.path);
        write(out, body.stat);
        break;
    case operation::exists:
    case operation::set_data:
        write(out, body.stat);
        break;
    case operation::get_data:
        out.text(body.data);
        write(out, body.stat);
        break;
    case operation::get_children:
        write_children(out, body.children);
        break;
    case operation::get_children2:
        write_children(out, body.children);
        write(out, body.stat);
        break;
    case operation::remove:
    case operation::ping:
    case operation::authenticate:
    case operation::close_session:
        break;
    }
    return out.encoded();
}

std::string encode(const watch_event& event)
{
    jute_writer out;
    write(out, {.number = number::watch_event, .zxid = -1});
    out.int32(event.change);
    out.int32(event.state);
    out.text(event.path);
    return out.encoded();
}

std::optional<connect_request> read_connect_request(std::string_view record)
{
    jute_reader in(record);
    connect_request r;
    in.int32();
    r.last_zxid = in.int64();
    r.timeout_ms = in.int32();
    r.session = in.int64();
    r.password = in.text();
    r.read_only = !in.at_end() && in.boolean();
    return if_good(in, std::move(r));
}

// Servers before 3.4 say nothing about `read_only`.
std::optional<connect_reply> read_connect_reply(std::string_view record)
{
    jute_reader in(record);
    connect_reply r;
    in.int32();
    r.timeout_ms = in.int32();
    r.session = in.int64();
    r.password = in.text();
    r.read_only = !in.at_end() && in.boolean();
    return if_good(in, std::move(r));
}

std::optional<request> read_request(std::string_view record)
{
    jute_reader in(record);
    request r;
    r.number = in.int32();
    const std::int32_t what = in.int32();
    if (!is_known(what))
        return std::nullopt;
    r.what = static_cast<operation>(what);
    if (has_path(r.what))
        r.path = in.text();
    if (creates(r.what)) {
        r.data = in.text();
        r.rights = read_rights(in);
        r.mode = static_cast<node_mode>(in.int32());
    } else if (r.what == operation::set_data) {
        r.data = in.text();
        r.version = in.int32();
    } else if (r.what == operation::remove) {
        r.version = in.int32();
    } else if (can_watch(r.what)) {
        r.watch = in.boolean();
    } else if (r.what == operation::authenticate) {
        in.int32();
        r.scheme = in.text();
        r.data = in.text();
    }
    return if_good(in, std::move(r));
}

std::optional<reply_header> read_header(std::string_view record)
{
    jute_reader in(record);
    reply_header header;
    header.number = in.int32();
    header.zxid = in.int64();
    header.error = in.int32();
    return if_good(in, std::move(header));
}

std::optional<reply_body> read_body(operation what, std::string_view record)
{
    if (record.size() < header_size)
        return std::nullopt;
    jute_reader in(record.substr(header_size));
    reply_body body;
    switch (what) {
    case operation::create:
    case operation::sync:
        body.path = in.text();
        break;
    case operation::create2:
    case operation::create_container:
        body.path = in.text();
        body.stat = read_stat(in);
        break;
    case operation::exists:
    case operation::set_data:
        body.stat = read_stat(in);
        break;
    case operation::get_data:
        body.data = in.text();
        body.stat = read_stat(in);
        break;
    case operation::get_children:
        body.children = read_children(in);
        break;
    case operation::get_children2:
        body.children = read_children(in);
        body.stat = read_stat(in);
        break;
    case operation::remove:
    case operation::ping:
    case operation::authenticate:
    case operation::close_session:
        break;
    }
    return if_good(in, std::move(body));
}

std::optional<watch_event> read_event(std::string_view record)
{
    if (record.size() < header_size)
        return std::nullopt;
    jute_reader in(record.substr(header_size));
    watch_event event;
    event.change = in.int32();
    event.state = in.int32();
    event.path = in.text();
    return if_good(in, std::move(event));
}

} // namespace holdfast::zookeeper_store::wire
