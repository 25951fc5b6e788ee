// Starts throw-away Redis servers for the harness, and addresses where something is wrong; prints
// what they are as one line of JSON, and takes them down when its standard input ends.
#include "machine.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/program_options.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using asio::ip::tcp;
using holdfast::test::fault_proxy;

struct settings {
    std::size_t count = 5, slow = 0, refused = 0, black_holes = 0, delay_ms = 50;
};

std::string url(std::uint16_t port)
{
    return "redis://127.0.0.1:" + std::to_string(port);
}

tcp::socket bound_socket(asio::io_context& io)
{
    return tcp::socket(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
}

// Everything that is up, for as long as it lives.
class nodes {
public:
    explicit nodes(const settings& wanted) : servers_(holdfast::test::start_servers(wanted.count))
    {
        for (std::size_t i = wanted.count - wanted.slow; i < wanted.count; ++i) {
            prompt_.emplace_back(servers_[i].port());
            fault_proxy& proxy = slow_.emplace_back(servers_[i].port());
            holdfast::test::link_faults late;
            late.to_client.delay = std::chrono::milliseconds(wanted.delay_ms);
            proxy.set(late);
        }
        while (refusing_.size() < wanted.refused) // nobody listens, and nobody else can
            refusing_.push_back(bound_socket(io_));
        while (silent_.size() < wanted.black_holes) // the kernel connects; nobody ever answers
            silent_.emplace_back(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    }

    // Where they are, their processes, and what runs them.
    json::object description()
    {
        json::array slow, prompt, refused, black_holes, servers, pids;
        for (const auto& server : servers_) {
            servers.emplace_back(server.url());
            pids.emplace_back(server.pid());
        }
        for (const auto& proxy : slow_)
            slow.emplace_back(proxy.url());
        for (const auto& proxy : prompt_)
            prompt.emplace_back(proxy.url());
        for (const auto& socket : refusing_)
            refused.emplace_back(url(socket.local_endpoint().port()));
        for (const auto& acceptor : silent_)
            black_holes.emplace_back(url(acceptor.local_endpoint().port()));
        json::object machine;
        const auto info = servers_.front().command({"INFO", "server"});
        for (const auto& [name, value] : benchmark::describe_machine(info))
            machine[name] = value;
        return {{"servers", servers}, {"pids", pids}, {"slow", slow}, {"prompt", prompt},
            {"refused", refused}, {"black_holes", black_holes}, {"machine", machine}};
    }

private:
    asio::io_context io_;
    std::vector<holdfast::test::redis_server> servers_;
    std::vector<fault_proxy> slow_, prompt_;
    std::vector<tcp::socket> refusing_;
    std::vector<tcp::acceptor> silent_;
};

bool parse(settings& wanted, int argc, char** argv)
{
    po::options_description options("nodes");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("help", "this text")("count", number(wanted.count), "Redis servers")(
        "slow", number(wanted.slow),
        "so many of them, the last, also through proxies, slow and prompt ones")(
        "delay", number(wanted.delay_ms), "milliseconds by which answers of a slow one are late")(
        "refused", number(wanted.refused), "addresses that refuse connections")(
        "black-holes", number(wanted.black_holes), "addresses that never answer");
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0)
        std::cout << options;
    if (wanted.count < 1 || wanted.slow > wanted.count)
        throw std::invalid_argument("at least one server, and not more slow ones than there are");
    return given.count("help") == 0;
}

} // namespace

int main(int argc, char** argv)
try {
    settings wanted;
    if (!parse(wanted, argc, argv))
        return 0;
    std::signal(SIGINT, SIG_IGN); // the harness hears it, and lets us go
    nodes all(wanted);
    std::cout << json::serialize(all.description()) << std::endl;
    while (std::getchar() != EOF) {
    }
} catch (const std::exception& e) {
    std::cerr << "nodes: " << e.what() << '\n';
    return 2;
}
