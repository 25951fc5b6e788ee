#include "support/etcd_cluster.hpp"

#include "support/redis_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
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

struct etcd_cluster::one_member {
    std::string name;
    std::uint16_t port = 0, peer_port = 0;
    temporary_folder folder{"etcd"};
    std::optional<child_process> process{};
    bool paused = false;

    std::string peer_url() const { return "http://127.0.0.1:" + std::to_string(peer_port); }
    std::string log() const
    {
        std::ifstream file(folder.path() + "/log");
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
};

namespace {

constexpr auto start_limit = 60s; // generous: sanitizers and busy machines
constexpr auto poll_interval = 5ms;

} // namespace

etcd_cluster::etcd_cluster(
    std::size_t members, std::vector<std::string> arguments, std::string scheme)
    : arguments_(std::move(arguments)),
      scheme_(std::move(scheme))
{
    members_.resize(members);
    // Another process may take a port between the check and the server's start.
    while (!start()) {
    }
}

etcd_cluster::etcd_cluster(etcd_cluster&&) noexcept = default;
etcd_cluster& etcd_cluster::operator=(etcd_cluster&&) noexcept = default;
etcd_cluster::~etcd_cluster() = default;

std::string etcd_cluster::url(std::size_t member) const
{
    return scheme_ + "://127.0.0.1:" + std::to_string(port(member));
}

std::vector<std::string> etcd_cluster::urls() const
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < size(); ++i)
        all.push_back(url(i));
    return all;
}

std::uint16_t etcd_cluster::port(std::size_t member) const noexcept
{
    return members_[member]->port;
}

void etcd_cluster::kill(std::size_t member) noexcept
{
    members_[member]->process.reset();
}

void etcd_cluster::restart(std::size_t member)
{
    kill(member);
    std::filesystem::remove(members_[member]->folder.path() + "/log");
    launch(member, true);
    if (!wait_until_ready())
        throw std::runtime_error("port " + std::to_string(port(member)) + " has been taken");
}

void etcd_cluster::pause(std::size_t member)
{
    members_[member]->process.value().pause();
    members_[member]->paused = true;
}

void etcd_cluster::resume(std::size_t member)
{
    members_[member]->process.value().resume();
    members_[member]->paused = false;
}

// Each line of "endpoint status" ends in: …, is leader, is learner, raft term, …
std::size_t etcd_cluster::leader() const
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (std::chrono::steady_clock::now() < deadline) {
        std::istringstream lines(ctl({"endpoint", "status"}));
        for (std::string line; std::getline(lines, line);) {
            if (line.find(", true, ") == line.npos)
                continue;
            for (std::size_t i = 0; i < size(); ++i) {
                if (line.starts_with(url(i) + ","))
                    return i;
            }
        }
        std::this_thread::sleep_for(poll_interval);
    }
    throw std::runtime_error("no member of the etcd cluster leads");
}

std::string etcd_cluster::ctl(const std::vector<std::string>& words) const
{
    child_process run(ctl_words(words));
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t n = 0; (n = ::read(run.output(), part.data(), part.size())) > 0;)
        all.append(part.data(), static_cast<std::size_t>(n));
    if (const int status = run.wait(); status != 0)
        throw std::runtime_error(
            "etcdctl " + words.front() + " has ended with " + std::to_string(status));
    return all;
}

child_process etcd_cluster::start_ctl(const std::vector<std::string>& words) const
{
    return child_process(
        ctl_words(words), child_options{.piped = child_options::pipes::input_and_output});
}

std::vector<std::string> etcd_cluster::ctl_words(const std::vector<std::string>& words) const
{
    std::string endpoints;
    for (std::size_t i = 0; i < size(); ++i) {
        if (members_[i]->process && !members_[i]->paused)
            endpoints += (endpoints.empty() ? "" : ",") + url(i);
    }
    std::vector<std::string> all{"env", "ETCDCTL_API=3", "etcdctl", "--command-timeout=60s",
        "--dial-timeout=60s", "--endpoints=" + endpoints};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

// Returns false if a port is taken.
bool etcd_cluster::start()
{
    for (std::size_t i = 0; i < size(); ++i) {
        members_[i] = std::make_unique<one_member>();
        members_[i]->name = "member" + std::to_string(i);
        members_[i]->port = free_port();
        members_[i]->peer_port = free_port();
    }
    for (std::size_t i = 0; i < size(); ++i)
        launch(i, false);
    return wait_until_ready();
}

void etcd_cluster::launch(std::size_t member, bool again)
{
    one_member& m = *members_[member];
    std::string cluster;
    for (const auto& each : members_)
        cluster += (cluster.empty() ? "" : ",") + each->name + "=" + each->peer_url();
    // Warnings about broken connections go to the log as well.
    const std::string log = m.folder.path() + "/log";
    std::vector<std::string> words{"sh", "-c", "exec \"$@\" 2>>\"$0\"", log, "etcd", "--name",
        m.name, "--data-dir", m.folder.path() + "/data", "--listen-client-urls", url(member),
        "--advertise-client-urls", url(member), "--listen-peer-urls", m.peer_url(),
        "--initial-advertise-peer-urls", m.peer_url(), "--initial-cluster", cluster,
        "--initial-cluster-state", again ? "existing" : "new", "--logger", "zap", "--log-outputs",
        log};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    m.process.emplace(words, child_options{.piped = child_options::pipes::none});
}

// Returns false if a port is taken.
bool etcd_cluster::wait_until_ready()
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    for (const auto& m : members_) {
        while (m->process && m->log().find("serving client traffic") == std::string::npos) {
            if (m->process->running() && std::chrono::steady_clock::now() < deadline) {
                std::this_thread::sleep_for(poll_interval);
                continue;
            }
            const std::string why = m->log();
            for (const auto& each : members_)
                each->process.reset();
            if (why.find("address already in use") != std::string::npos)
                return false;
            throw std::runtime_error("etcd did not start; its log:\n" + why);
        }
    }
    return true;
}

} // namespace holdfast::test
