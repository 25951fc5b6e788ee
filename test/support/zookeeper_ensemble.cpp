#include "support/zookeeper_ensemble.hpp"

#include "support/child_process.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"
#include "zookeeper/wire/jute.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;
using zookeeper_store::wire::jute_writer;

struct zookeeper_ensemble::one_server {
    std::uint16_t port = 0, peer_port = 0, election_port = 0;
    temporary_folder folder{"zookeeper"};
    std::optional<child_process> process{};

    std::string path(const std::string& name) const { return folder.path() + "/" + name; }
    std::string log() const
    {
        std::ifstream file(path("log"));
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    // Asks in the words for people whether it serves.
    bool serves() const
    try {
        namespace asio = boost::asio;
        asio::io_context io;
        asio::ip::tcp::socket socket(io);
        socket.connect({asio::ip::address_v4::loopback(), port});
        asio::write(socket, asio::buffer("srvr", 4));
        std::string all;
        boost::system::error_code end;
        asio::read(socket, asio::dynamic_buffer(all), end);
        return all.find("Mode: ") != all.npos;
    } catch (const boost::system::system_error&) {
        return false; // not yet
    }
};

namespace {

constexpr auto start_limit = 60s; // generous: sanitizers and busy machines
constexpr auto poll_interval = 20ms;

// The check sum of the server's log of transactions.
std::int64_t adler32(const std::string& bytes)
{
    std::uint32_t a = 1, b = 0;
    for (const char c : bytes) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    return static_cast<std::int64_t>(b << 16 | a);
}

// A transaction in that log: a node was created, and its parent had so many before.
std::string creation(std::int64_t zxid, const std::string& path, std::int32_t creations)
{
    jute_writer all;
    all.int64(0); // the session
    all.int32(0);
    all.int64(zxid);
    all.int64(1'700'000'000'000);
    all.int32(1); // creates a node
    all.text(path);
    all.text("");
    all.int32(1); // everybody may do everything
    all.int32(31);
    all.text("world");
    all.text("anyone");
    all.boolean(false);
    all.int32(creations);
    jute_writer entry;
    entry.int64(adler32(all.encoded()));
    entry.text(all.encoded());
    return entry.encoded() + 'B';
}

// What a server would have written if the nodes had seen so many creations.
void write_log_of(const std::map<std::string, std::int32_t>& aged, const std::string& folder)
{
    std::filesystem::create_directories(folder);
    jute_writer head;
    head.int32(0x5a4b4c47);
    head.int32(2);
    head.int64(0);
    std::string all = head.encoded();
    std::int64_t zxid = 0;
    for (const auto& [path, creations] : aged) {
        ++zxid;
        all += creation(zxid, path, static_cast<std::int32_t>(zxid));
        all += creation(++zxid, path + "/old", creations);
    }
    std::ofstream(folder + "/log.1", std::ios::binary) << all << std::string(64, '\0');
}

} // namespace

zookeeper_ensemble::zookeeper_ensemble(std::size_t servers, zookeeper_ensemble_settings s)
    : settings_(std::move(s))
{
    servers_.resize(servers);
    // Another process may take a port between the check and the server's start.
    while (!start()) {
    }
}

zookeeper_ensemble::zookeeper_ensemble(zookeeper_ensemble&&) noexcept = default;
zookeeper_ensemble::~zookeeper_ensemble() = default;

std::uint16_t zookeeper_ensemble::port(std::size_t server) const noexcept
{
    return servers_[server]->port;
}

// Returns false if a port is taken.
bool zookeeper_ensemble::start()
{
    for (auto& each : servers_) {
        each = std::make_unique<one_server>();
        each->port = free_port();
        each->peer_port = free_port();
        each->election_port = free_port();
    }
    for (std::size_t i = 0; i < size(); ++i) {
        configure(i);
        one_server& s = *servers_[i];
        const std::vector<std::string> words{"sh", "-c", "exec \"$@\" >>\"$0\" 2>&1", s.path("log"),
            "java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
            s.folder.path() + ":/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-log4j12.jar"
                              ":/usr/share/java/log4j-1.2.jar",
            "-Dzookeeper.snapshot.trust.empty=true", "-Dznode.container.checkIntervalMs=500",
            "org.apache.zookeeper.server.quorum.QuorumPeerMain", s.path("zoo.cfg")};
        s.process.emplace(words, child_options{.piped = child_options::pipes::none});
    }
    return wait_until_ready();
}

void zookeeper_ensemble::configure(std::size_t server)
{
    const one_server& s = *servers_[server];
    std::filesystem::create_directories(s.path("data"));
    std::ofstream(s.path("log4j.properties"))
        << "log4j.rootLogger=INFO, C\nlog4j.appender.C=org.apache.log4j.ConsoleAppender\n"
           "log4j.appender.C.layout=org.apache.log4j.SimpleLayout\n";
    std::ofstream file(s.path("zoo.cfg"));
    file << "tickTime="
         << std::chrono::duration_cast<std::chrono::milliseconds>(settings_.tick).count()
         << "\ninitLimit=40\nsyncLimit=20\ndataDir=" << s.path("data")
         << "\nclientPortAddress=127.0.0.1\nclientPort=" << s.port
         << "\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\nmaxClientCnxns=0\n";
    if (!settings_.aged.empty())
        write_log_of(settings_.aged, s.path("data/version-2"));
    if (size() == 1)
        return;
    for (std::size_t i = 0; i < size(); ++i)
        file << "server." << i + 1 << "=127.0.0.1:" << servers_[i]->peer_port << ':'
             << servers_[i]->election_port << '\n';
    std::ofstream(s.path("data/myid")) << server + 1 << '\n';
}

// Returns false if a port is taken.
bool zookeeper_ensemble::wait_until_ready()
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    for (const auto& each : servers_) {
        while (!each->serves()) {
            if (each->process->running() && std::chrono::steady_clock::now() < deadline) {
                std::this_thread::sleep_for(poll_interval);
                continue;
            }
            const std::string why = each->log();
            for (const auto& other : servers_)
                other->process.reset();
            if (why.find("Address already in use") != why.npos)
                return false;
            throw std::runtime_error("ZooKeeper did not start; its log:\n" + why);
        }
    }
    return true;
}

} // namespace holdfast::test
