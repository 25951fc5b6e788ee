#include "buttons.hpp"

#include <chrono>
#include <exception>
#include <string>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;
using answer = page_server::answer;
using kind = news::kind;

constexpr auto freeze_time = 5s; // longer than a lease

answer done()
{
    return {http::status::no_content, {}};
}

answer not_now(std::string why)
{
    return {http::status::conflict, std::move(why)};
}

answer unknown(std::string what)
{
    return {http::status::bad_request, std::move(what)};
}

} // namespace

answer buttons::press(const json::object& asked)
{
    const std::string action(asked.at("action").as_string());
    if (sale_.comparing())
        return not_now("the strategies are being compared: wait until that is done");
    if (action == "sell_with_lock")
        return sell_by(strategy::fenced);
    if (action == "sell_without_lock")
        return sell_by(strategy::none);
    if (action == "compare")
        return compare();
    if (action == "freeze_server")
        return freeze(static_cast<std::size_t>(number(asked, "server")));
    if (action.ends_with("_node"))
        return break_node(action, static_cast<std::size_t>(number(asked, "node")));
    return unknown("there is no such action");
}

answer buttons::break_node(std::string_view action, std::size_t node)
{
    if (node >= nodes_.count())
        return unknown("there is no such node");
    const std::string name = "Node " + std::to_string(node + 1);
    if (action == "kill_node") {
        if (!nodes_.kill(node))
            return not_now("the node is not up");
        news_.add(kind::fault, name + " is killed. It loses all that it stored.");
    } else if (action == "restart_node") {
        try {
            if (!nodes_.restart(node))
                return not_now("the node is not down");
        } catch (const std::exception& e) {
            return {http::status::internal_server_error, name + " does not start: " + e.what()};
        }
        news_.add(kind::repair,
            name + " is started again, empty. It is in quarantine before it counts again.");
    } else if (action == "cut_node") {
        if (!nodes_.cut(node))
            return not_now("the node is not up");
        news_.add(kind::fault, name + " is cut off from the network.");
    } else if (action == "join_node") {
        if (!nodes_.join(node))
            return not_now("the node is not cut off");
        news_.add(kind::repair, name + " is back in the network.");
    } else {
        return unknown("there is no such action");
    }
    return done();
}

answer buttons::freeze(std::size_t server)
{
    if (server >= servers_.count())
        return unknown("there is no such server");
    const std::string name = "Server " + std::to_string(server + 1);
    const auto thawed = [this, name] {
        news_.add(kind::repair, name + " goes on, and does not know that it stood still.");
    };
    if (!servers_.freeze(server, freeze_time, thawed))
        return not_now("the server is frozen already");
    news_.add(kind::fault, name + " is frozen for " + std::to_string(freeze_time.count()) + " s.");
    return done();
}

answer buttons::sell_by(strategy how)
{
    if (sale_.sold_by() == how)
        return not_now("the sale is in this mode already");
    sale_.sell_by(how);
    if (how == strategy::none)
        news_.add(kind::fault, "The servers sell without the lock: read, think, write.");
    else
        news_.add(kind::repair, "The servers sell under the fenced lock.");
    return done();
}

answer buttons::compare()
{
    if (!nodes_.all_up() || servers_.any_frozen())
        return not_now("first bring all nodes and servers back");
    sale_.compare();
    news_.add(kind::info, "The strategies are compared, one after the other.");
    return done();
}

} // namespace flash_sale_web
