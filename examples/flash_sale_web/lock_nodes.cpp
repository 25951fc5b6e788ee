#include "lock_nodes.hpp"

#include <algorithm>

namespace flash_sale_web {

using holdfast::test::link_faults;
using holdfast::test::newcomers;

lock_nodes::lock_nodes(std::size_t count) : nodes_(count) {}

bool lock_nodes::all_up() const
{
    return std::all_of(
        nodes_.begin(), nodes_.end(), [](const member& each) { return each.is == state::up; });
}

std::vector<holdfast::endpoint> lock_nodes::endpoints() const
{
    std::vector<holdfast::endpoint> all;
    for (const member& each : nodes_)
        all.emplace_back(each.proxy.url());
    return all;
}

std::string lock_nodes::address(std::size_t node) const
{
    return "127.0.0.1:" + std::to_string(nodes_.at(node).proxy.port());
}

bool lock_nodes::kill(std::size_t node)
{
    member& one = nodes_.at(node);
    if (one.is != state::up)
        return false;
    one.server.kill();
    one.is = state::killed;
    return true;
}

bool lock_nodes::restart(std::size_t node)
{
    member& one = nodes_.at(node);
    if (one.is != state::killed)
        return false;
    one.server.restart();
    one.is = state::up;
    return true;
}

bool lock_nodes::cut(std::size_t node)
{
    member& one = nodes_.at(node);
    if (one.is != state::up)
        return false;
    link_faults faults;
    faults.to_server.held = faults.to_client.held = true;
    faults.new_connections = newcomers::ignored;
    one.proxy.set(faults);
    one.is = state::cut;
    return true;
}

bool lock_nodes::join(std::size_t node)
{
    member& one = nodes_.at(node);
    if (one.is != state::cut)
        return false;
    one.proxy.set({});
    one.is = state::up;
    return true;
}

} // namespace flash_sale_web
