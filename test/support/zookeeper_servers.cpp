#include "support/zookeeper_servers.hpp"

#include "support/redis_server.hpp"
#include "support/zookeeper_log.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;

struct zookeeper_servers::one_server {
    std::uint16_t port = 0, secure_port = 0, quorum_port = 0, election_port = 0;
    temporary_folder folder{"zookeeper"};
    std::optional<child_process> process{};

    std::string log() const
    {
        std::ifstream file(folder.path() + "/log");
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
};

// How one server reaches another.
struct zookeeper_servers::wire {
    std::size_t from, to;
    fault_proxy quorum, election;
};

namespace {

constexpr auto start_limit = 60s; // generous: sanitizers and busy machines
constexpr auto poll_interval = 20ms;

// The answer to one of the server's words for administrators. Empty if there is none in time.
std::string ask(std::uint16_t port, const std::string& word)
{
    namespace asio = boost::asio;
    using tcp = asio::ip::tcp;
    asio::io_context io;
    tcp::socket socket(io);
    std::string answer;
    socket.async_connect({asio::ip::address_v4::loopback(), port}, [&](auto failed) {
        if (failed)
            return;
        boost::system::error_code ignored;
        asio::write(socket, asio::buffer(word), ignored);
        asio::async_read(socket, asio::dynamic_buffer(answer), [](auto, std::size_t) {});
    });
    io.run_for(2s);
    return answer;
}

} // namespace

zookeeper_servers::zookeeper_servers(zookeeper_settings settings) : settings_(std::move(settings))
{
    servers_.resize(settings_.servers);
    // Another process may take a port between the check and the server's start.
    while (!start()) {
    }
}

zookeeper_servers::zookeeper_servers(zookeeper_servers&&) noexcept = default;
zookeeper_servers& zookeeper_servers::operator=(zookeeper_servers&&) noexcept = default;
zookeeper_servers::~zookeeper_servers() = default;

std::uint16_t zookeeper_servers::port(std::size_t server) const noexcept
{
    return servers_[server]->port;
}

std::uint16_t zookeeper_servers::secure_port(std::size_t server) const noexcept
{
    return servers_[server]->secure_port;
}

std::string zookeeper_servers::hosts() const
{
    std::string all;
    for (const auto& each : servers_)
        all += (all.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each->port);
    return all;
}

std::string zookeeper_servers::url(const std::string& root) const
{
    return "zookeeper://" + hosts() + root;
}

void zookeeper_servers::kill(std::size_t server) noexcept
{
    servers_[server]->process.reset();
}

void zookeeper_servers::restart(std::size_t server)
{
    kill(server);
    launch(server);
    if (!wait_until_ready())
        throw std::runtime_error("port " + std::to_string(port(server)) + " has been taken");
}

void zookeeper_servers::pause(std::size_t server)
{
    servers_[server]->process.value().pause();
}

void zookeeper_servers::resume(std::size_t server)
{
    servers_[server]->process.value().resume();
}

void zookeeper_servers::isolate(std::size_t server)
{
    cut(server, {.to_server = {.lost = true},
                    .to_client = {.lost = true},
                    .new_connections = newcomers::ignored});
}

// Connections that have lost bytes transmit nothing more.
void zookeeper_servers::reconnect(std::size_t server)
{
    cut(server, {});
    for (const auto& each : wires_) {
        if (each->from == server || each->to == server) {
            each->quorum.reset();
            each->election.reset();
        }
    }
}

void zookeeper_servers::cut(std::size_t server, const link_faults& faults)
{
    for (const auto& each : wires_) {
        if (each->from == server || each->to == server) {
            each->quorum.set(faults);
            each->election.set(faults);
        }
    }
}

std::string zookeeper_servers::mode(std::size_t server) const
{
    std::istringstream lines(ask(port(server), "srvr"));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("Mode: "))
            return line.substr(6);
    }
    return {};
}

std::size_t zookeeper_servers::leader() const
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (std::chrono::steady_clock::now() < deadline) {
        for (std::size_t i = 0; i < size(); ++i) {
            if (servers_[i]->process && mode(i) == "leader")
                return i;
        }
        std::this_thread::sleep_for(poll_interval);
    }
    throw std::runtime_error("no server of the ensemble leads");
}

// Returns false if a port is taken.
bool zookeeper_servers::start()
{
    wires_.clear();
    for (auto& each : servers_) {
        each = std::make_unique<one_server>();
        each->port = free_port();
        each->secure_port = free_port();
        each->quorum_port = free_port();
        each->election_port = free_port();
    }
    for (std::size_t from = 0; settings_.can_be_isolated && from < size(); ++from) {
        for (std::size_t to = 0; to < size(); ++to) {
            if (from != to)
                wires_.push_back(
                    std::make_unique<wire>(wire{from, to, fault_proxy(servers_[to]->quorum_port),
                        fault_proxy(servers_[to]->election_port)}));
        }
    }
    for (std::size_t i = 0; i < size(); ++i)
        launch(i);
    return wait_until_ready();
}

void zookeeper_servers::launch(std::size_t server)
{
    one_server& s = *servers_[server];
    const std::string folder = s.folder.path();
    std::ofstream config(folder + "/zoo.cfg");
    config << "tickTime=" << settings_.tick_ms
           << "\ninitLimit=40\nsyncLimit=" << settings_.sync_ticks << "\ndataDir=" << folder
           << "\nclientPort=" << s.port
           << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
              "4lw.commands.whitelist=srvr,conf\n";
    if (!settings_.key_store.empty())
        config << "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
                  "secureClientPort="
               << s.secure_port << "\nsecureClientPortAddress=127.0.0.1\n"
               << "ssl.keyStore.location=" << settings_.key_store
               << "\nssl.keyStore.type=PEM\nssl.trustStore.location=" << settings_.trust_store
               << "\nssl.trustStore.type=PEM\n";
    for (const std::string& line : settings_.lines)
        config << line << '\n';
    for (std::size_t i = 0; size() > 1 && i < size(); ++i) {
        std::uint16_t quorum = servers_[i]->quorum_port, election = servers_[i]->election_port;
        for (const auto& each : wires_) {
            if (each->from == server && each->to == i) {
                quorum = each->quorum.port();
                election = each->election.port();
            }
        }
        config << "server." << i + 1 << "=127.0.0.1:" << quorum << ':' << election << '\n';
    }
    if (!settings_.aged.empty()) {
        config << "snapshot.trust.empty=true\n";
        if (!std::filesystem::exists(folder + "/version-2"))
            write_zookeeper_log(folder, settings_.aged);
    }
    config.close();
    std::ofstream(folder + "/myid") << server + 1 << '\n';
    std::vector<std::string> words{"sh", "-c", "exec \"$@\" >\"$0\" 2>&1", folder + "/log", "java",
        "-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dzookeeper.forceSync=no",
        "-Dzookeeper.jmx.log4j.disable=true", "-Dzookeeper.skipACL=no",
        "-Dznode.container.checkIntervalMs=" + std::to_string(settings_.container_ms)};
    words.insert(words.end(), settings_.java.begin(), settings_.java.end());
    // TLS needs parts of Netty that the first file does not name.
    words.insert(
        words.end(), {"-cp",
                         "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar:"
                         "/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar:"
                         "/usr/share/java/netty-transport-native-unix-common.jar",
                         "org.apache.zookeeper.server.quorum.QuorumPeerMain", folder + "/zoo.cfg"});
    s.process.emplace(words, child_options{.piped = child_options::pipes::none});
}

// On a port that was taken, another server would answer.
bool zookeeper_servers::is_ready(std::size_t server) const
{
    const std::string own = "dataDir=" + servers_[server]->folder.path() + '/';
    return !mode(server).empty() && ask(port(server), "conf").find(own) != std::string::npos;
}

// Returns false if a port is taken.
bool zookeeper_servers::wait_until_ready()
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    for (std::size_t i = 0; i < size(); ++i) {
        one_server& s = *servers_[i];
        while (s.process && !is_ready(i)) {
            if (s.process->running() && std::chrono::steady_clock::now() < deadline) {
                std::this_thread::sleep_for(poll_interval);
                continue;
            }
            const std::string why = s.log();
            for (const auto& each : servers_)
                each->process.reset();
            if (why.find("Address already in use") != std::string::npos)
                return false;
            throw std::runtime_error("ZooKeeper did not start; its log:\n" + why);
        }
    }
    return true;
}

} // namespace holdfast::test
