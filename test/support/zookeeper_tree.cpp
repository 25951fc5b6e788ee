#include "support/zookeeper_tree.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>

namespace holdfast::test {

namespace wire = zookeeper_store::wire;

namespace {

constexpr std::int32_t bad_version = -103, no_children_for_ephemerals = -108;
constexpr std::int32_t most_creations = std::numeric_limits<std::int32_t>::max();

bool is_sequential(wire::node_mode mode)
{
    const auto flags = static_cast<std::int32_t>(mode);
    return flags == 2 || flags == 3;
}

bool is_ephemeral(wire::node_mode mode)
{
    const auto flags = static_cast<std::int32_t>(mode);
    return flags == 1 || flags == 3;
}

// Ten digits, or as many as it needs. A sign takes the place of one.
std::string sequence(std::int32_t number)
{
    char text[16];
    std::snprintf(text, sizeof text, "%010d", number);
    return text;
}

std::int32_t successor(std::int32_t number)
{
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(number) + 1);
}

} // namespace

zookeeper_tree::zookeeper_tree()
{
    nodes_["/"];
}

std::string zookeeper_tree::parent_of(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == path.npos ? "/" : std::string(path.substr(0, slash));
}

bool zookeeper_tree::is_valid(std::string_view path)
{
    if (path.empty() || path.front() != '/')
        return false;
    if (path.size() > 1 && path.back() == '/')
        return false;
    std::size_t start = 1;
    while (start < path.size()) {
        const std::size_t end = std::min(path.find('/', start), path.size());
        const std::string_view name = path.substr(start, end - start);
        if (name.empty() || name == "." || name == "..")
            return false;
        start = end + 1;
    }
    return std::none_of(path.begin(), path.end(), [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < 0x20 || code == 0x7f;
    });
}

std::int32_t zookeeper_tree::check_creation(zookeeper_change& c, bool has_rights) const
{
    if (c.path.empty() || c.path.front() != '/')
        return wire::code::bad_arguments;
    if (!has_rights)
        return wire::code::invalid_acl;
    const auto parent = nodes_.find(parent_of(c.path));
    if (parent == nodes_.end())
        return wire::code::no_node;
    if (is_sequential(c.mode))
        c.path += sequence(parent->second.creations);
    if (!is_valid(c.path))
        return wire::code::bad_arguments;
    if (nodes_.contains(c.path))
        return wire::code::node_exists;
    if (parent->second.owner != 0)
        return no_children_for_ephemerals;
    c.creations = successor(parent->second.creations);
    return wire::code::ok;
}

// Completes the change, or tells why it fails.
std::int32_t zookeeper_tree::check(zookeeper_change& c, const wire::request& r) const
{
    switch (c.what) {
    case wire::operation::create:
    case wire::operation::create2:
    case wire::operation::create_container:
        return check_creation(c, !r.rights.empty());
    case wire::operation::remove:
    case wire::operation::set_data:
        break;
    default:
        return wire::code::unimplemented;
    }
    // Here, the servers check only the path of a change.
    if (c.what == wire::operation::set_data ? !is_valid(c.path) : c.path.find('/') == c.path.npos)
        return wire::code::bad_arguments;
    const auto at = nodes_.find(c.path);
    if (at == nodes_.end())
        return wire::code::no_node;
    if (r.version != -1 && r.version != at->second.version)
        return bad_version;
    if (c.what == wire::operation::remove && !at->second.children.empty())
        return wire::code::not_empty;
    return wire::code::ok;
}

zookeeper_change zookeeper_tree::prepare(
    const wire::request& r, std::int64_t session, std::int64_t zxid, std::int64_t ms)
{
    prepares_ = true;
    zookeeper_change c{.what = r.what,
        .session = session,
        .zxid = zxid,
        .ms = ms,
        .path = r.path,
        .data = r.data,
        .mode = r.mode};
    c.error = check(c, r);
    std::vector<event> nobody;
    apply(c, nobody);
    return c;
}

zookeeper_change zookeeper_tree::prepare_session(
    std::int64_t session, std::int32_t timeout_ms, std::int64_t zxid)
{
    zookeeper_change c{.what = zookeeper_change::create_session,
        .session = session,
        .zxid = zxid,
        .timeout_ms = timeout_ms};
    std::vector<event> nobody;
    apply(c, nobody);
    return c;
}

zookeeper_change zookeeper_tree::prepare_end(std::int64_t session, std::int64_t zxid)
{
    zookeeper_change c{.what = wire::operation::close_session, .session = session, .zxid = zxid};
    for (const auto& [path, each] : nodes_) {
        if (each.owner == session)
            c.ends.push_back(path);
    }
    std::vector<event> nobody;
    apply(c, nobody);
    return c;
}

zookeeper_change zookeeper_tree::prepare_removal(const std::string& container, std::int64_t zxid)
{
    return prepare({.what = wire::operation::remove, .path = container}, 0, zxid, 0);
}

void zookeeper_tree::settle()
{
    for (const std::string& each : overflowed_) {
        if (const auto at = nodes_.find(each); at != nodes_.end())
            at->second.creations = most_creations;
    }
    overflowed_.clear();
}

void zookeeper_tree::create(const zookeeper_change& c, std::vector<event>& events)
{
    const std::string parent_path = parent_of(c.path);
    node& parent = nodes_.find(parent_path)->second;
    if (c.creations > parent.creations) {
        parent.creations = c.creations;
        parent.children_modified = c.zxid;
    } else if (prepares_) {
        parent.creations = c.creations;
        parent.children_modified = c.zxid;
        overflowed_.insert(parent_path);
    }
    parent.children.insert(c.path.substr(c.path.rfind('/') + 1));
    nodes_[c.path] = {.data = c.data,
        .created = c.zxid,
        .modified = c.zxid,
        .children_modified = c.zxid,
        .created_ms = c.ms,
        .modified_ms = c.ms,
        .owner = is_ephemeral(c.mode) ? c.session : 0,
        .container = c.what == wire::operation::create_container};
    events.push_back({wire::change::created, c.path});
    events.push_back({wire::change::children, parent_path});
}

void zookeeper_tree::remove(const std::string& path, std::int64_t zxid, std::vector<event>& events)
{
    if (nodes_.erase(path) == 0)
        return;
    const std::string parent_path = parent_of(path);
    node& parent = nodes_.find(parent_path)->second;
    parent.children.erase(path.substr(path.rfind('/') + 1));
    parent.children_modified = std::max(parent.children_modified, zxid);
    events.push_back({wire::change::deleted, path});
    events.push_back({wire::change::children, parent_path});
}

zookeeper_tree::answer zookeeper_tree::apply(const zookeeper_change& c, std::vector<event>& events)
{
    last_zxid_ = std::max(last_zxid_, c.zxid);
    answer a{.error = c.error};
    if (c.error != wire::code::ok)
        return a;
    switch (c.what) {
    case wire::operation::create:
    case wire::operation::create2:
    case wire::operation::create_container:
        create(c, events);
        a.body.path = c.path;
        a.body.stat = stat_of(nodes_.find(c.path)->second);
        break;
    case wire::operation::remove:
        remove(c.path, c.zxid, events);
        break;
    case wire::operation::set_data: {
        node& changed = nodes_.find(c.path)->second;
        changed.data = c.data;
        ++changed.version;
        changed.modified = c.zxid;
        changed.modified_ms = c.ms;
        events.push_back({wire::change::data, c.path});
        a.body.stat = stat_of(changed);
        break;
    }
    case wire::operation::close_session:
        for (const std::string& each : c.ends)
            remove(each, c.zxid, events);
        sessions_.erase(c.session);
        break;
    default:
        if (c.what == zookeeper_change::create_session)
            sessions_[c.session] = c.timeout_ms;
    }
    return a;
}

zookeeper_tree::answer zookeeper_tree::read(const wire::request& r) const
{
    if (r.what == wire::operation::sync)
        return {.body = {.path = r.path}};
    const auto at = nodes_.find(r.path);
    if (at == nodes_.end())
        return {.error = wire::code::no_node};
    const node& found = at->second;
    answer a{.body = {.stat = stat_of(found)}};
    switch (r.what) {
    case wire::operation::get_data:
        a.body.data = found.data;
        break;
    case wire::operation::get_children:
    case wire::operation::get_children2:
        a.body.children.assign(found.children.begin(), found.children.end());
        break;
    case wire::operation::exists:
        break;
    default:
        a.error = wire::code::unimplemented;
    }
    return a;
}

std::vector<std::string> zookeeper_tree::idle_containers() const
{
    std::vector<std::string> found;
    for (const auto& [path, each] : nodes_) {
        if (each.container && each.children.empty() && each.creations > 0)
            found.push_back(path);
    }
    return found;
}

void zookeeper_tree::set_creations(std::string_view path, std::int32_t creations)
{
    nodes_.find(path)->second.creations = creations;
}

wire::node_stat zookeeper_tree::stat_of(const node& n)
{
    const auto children = static_cast<std::int32_t>(n.children.size());
    // Clients are told the number of changes: creations and removals.
    const auto changes = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(n.creations) * 2 - static_cast<std::uint32_t>(children));
    return {.created = n.created,
        .modified = n.modified,
        .created_ms = n.created_ms,
        .modified_ms = n.modified_ms,
        .version = n.version,
        .children_version = changes,
        .owner = n.owner,
        .data_length = static_cast<std::int32_t>(n.data.size()),
        .children = children,
        .children_modified = n.children_modified};
}

} // namespace holdfast::test
