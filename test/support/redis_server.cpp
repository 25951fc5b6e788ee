#include "support/redis_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto start_limit = 20s; // generous: sanitizers and busy machines
constexpr auto poll_interval = 2ms;

bool can_bind(std::uint16_t port)
{
    const int socket = open_socket();
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const auto address = loopback(port);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const bool bound = ::bind(socket, generic, sizeof address) == 0;
    ::close(socket);
    return bound;
}

} // namespace

// Uses ports below the range for outgoing connections. Otherwise a client that keeps trying to
// reach a killed server could get that very port, be connected to itself, and prevent the server's
// restart.
std::uint16_t free_port()
{
    static std::random_device random;
    std::uniform_int_distribution<unsigned> ports(10'000, 32'000);
    for (int tries = 0; tries < 1'000; ++tries) {
        const auto port = static_cast<std::uint16_t>(ports(random));
        if (can_bind(port))
            return port;
    }
    throw std::runtime_error("no free port");
}

redis_server::redis_server(
    std::vector<std::string> arguments, const std::vector<std::string>& more_ports)
{
    // Another process may take a port between the check and the server's start.
    do {
        port_ = free_port();
        arguments_ = arguments;
        for (const std::string& option : more_ports) {
            more_ports_[option] = free_port();
            arguments_.insert(arguments_.end(), {option, std::to_string(more_ports_[option])});
        }
    } while (!start(arguments_));
}

redis_server::redis_server(redis_server&& other) noexcept = default;
redis_server& redis_server::operator=(redis_server&& other) noexcept = default;
redis_server::~redis_server() = default;

std::string redis_server::command(
    const std::vector<std::string>& words, std::chrono::milliseconds timeout)
{
    return client_.command(port_, words, timeout);
}

std::string redis_server::url() const
{
    return "redis://127.0.0.1:" + std::to_string(port_);
}

pid_t redis_server::pid() const noexcept
{
    return process_ ? process_->pid() : -1;
}

bool redis_server::running() const noexcept
{
    return process_ && process_->running();
}

void redis_server::kill() noexcept
{
    client_.disconnect();
    process_.reset();
}

void redis_server::pause()
{
    process_.value().pause();
}

void redis_server::resume()
{
    process_.value().resume();
}

void redis_server::restart(std::vector<std::string> arguments)
{
    kill();
    arguments.insert(arguments.begin(), arguments_.begin(), arguments_.end());
    if (!start(arguments))
        throw std::runtime_error("port " + std::to_string(port_) + " has been taken");
}

// Returns false if a port is taken.
bool redis_server::start(const std::vector<std::string>& arguments)
{
    fs::remove(folder_.path() + "/log");
    std::vector<std::string> all{"redis-server", "--port", std::to_string(port_), "--bind",
        "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder_.path(), "--logfile",
        folder_.path() + "/log", "--daemonize", "no"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    process_.emplace(all, child_options{.piped = child_options::pipes::none});

    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (!ready()) {
        const bool exited = !running();
        const bool late = std::chrono::steady_clock::now() > deadline;
        if (exited || late) {
            kill();
            const auto why = log();
            if (why.find("Address already in use") != std::string::npos)
                return false;
            throw std::runtime_error("redis-server did not start; its log:\n" + why);
        }
        std::this_thread::sleep_for(poll_interval);
    }
    return true;
}

// Checks its own log first: on a port that was taken, another server would answer.
bool redis_server::ready()
{
    if (log().find("Ready to accept connections") == std::string::npos)
        return false;
    command({"PING"}); // an error is fine: a password may be required
    return true;
}

std::string redis_server::log() const
{
    std::ifstream file(folder_.path() + "/log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<redis_server> start_servers(
    std::size_t count, const std::vector<std::string>& arguments)
{
    std::vector<redis_server> servers;
    while (servers.size() < count)
        servers.emplace_back(arguments);
    return servers;
}

std::vector<std::string> urls(const std::vector<redis_server>& servers)
{
    std::vector<std::string> all;
    for (const auto& server : servers)
        all.push_back(server.url());
    return all;
}

std::vector<endpoint> endpoints(const std::vector<redis_server>& servers)
{
    std::vector<endpoint> all;
    for (const auto& server : servers)
        all.emplace_back(server.url());
    return all;
}

} // namespace holdfast::test
