#include "support/redis_server.hpp"

#include <csignal>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto start_limit = 20s; // generous: sanitizers and busy machines
constexpr auto poll_interval = 2ms;

std::string find_program(const std::string& name)
{
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const auto program = folder + "/" + name;
        if (::access(program.c_str(), X_OK) == 0)
            return program;
    }
    throw std::runtime_error(name + " is not on the PATH");
}

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

pid_t spawn(const std::string& program, std::vector<std::string> arguments)
{
    std::vector<char*> argv;
    for (auto& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);

    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == -1)
        fail("fork");
    if (child != 0)
        return child;

    // Only calls that are safe after a fork of a process with threads. The process group protects
    // the server from Ctrl-C: this process must stop it.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) // otherwise the parent died before prctl()
        ::execv(program.c_str(), argv.data());
    ::_exit(127);
}

} // namespace

redis_server::redis_server(std::vector<std::string> arguments) : arguments_(std::move(arguments))
{
    auto name = (fs::temp_directory_path() / "holdfast-redis-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        fail("mkdtemp");
    directory_ = name;
    try {
        // Another process may take the port between the check and the server's start.
        do {
            port_ = free_port();
        } while (!start(arguments_));
    } catch (...) {
        remove();
        throw;
    }
}

redis_server::redis_server(redis_server&& other) noexcept
    : arguments_(std::move(other.arguments_)),
      directory_(std::exchange(other.directory_, {})),
      port_(other.port_),
      pid_(std::exchange(other.pid_, -1)),
      client_(std::move(other.client_))
{}

redis_server& redis_server::operator=(redis_server&& other) noexcept
{
    auto taken = std::move(other);
    std::swap(arguments_, taken.arguments_);
    std::swap(directory_, taken.directory_);
    std::swap(port_, taken.port_);
    std::swap(pid_, taken.pid_);
    std::swap(client_, taken.client_);
    return *this;
}

redis_server::~redis_server()
{
    remove();
}

std::string redis_server::command(
    const std::vector<std::string>& words, std::chrono::milliseconds timeout)
{
    return client_.command(port_, words, timeout);
}

std::string redis_server::url() const
{
    return "redis://127.0.0.1:" + std::to_string(port_);
}

bool redis_server::running() const noexcept
{
    siginfo_t info{};
    return pid_ != -1 &&
           ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

void redis_server::kill() noexcept
{
    client_.disconnect();
    if (pid_ == -1)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) {
    }
    pid_ = -1;
}

void redis_server::pause()
{
    if (!running() || ::kill(pid_, SIGSTOP) == -1)
        throw std::runtime_error("there is no redis-server to pause");
    // The signal takes effect a moment later. Wait until the process has stopped.
    siginfo_t info{};
    const auto id = static_cast<id_t>(pid_);
    while (::waitid(P_PID, id, &info, WSTOPPED | WEXITED | WNOWAIT) == -1 && errno == EINTR) {
    }
}

void redis_server::resume()
{
    if (!running() || ::kill(pid_, SIGCONT) == -1)
        throw std::runtime_error("there is no redis-server to resume");
}

void redis_server::restart(std::vector<std::string> arguments)
{
    kill();
    arguments.insert(arguments.begin(), arguments_.begin(), arguments_.end());
    if (!start(arguments))
        throw std::runtime_error("port " + std::to_string(port_) + " has been taken");
}

// Returns false if the port is taken.
bool redis_server::start(const std::vector<std::string>& arguments)
{
    fs::remove(directory_ + "/log");
    const auto program = find_program("redis-server");
    std::vector<std::string> all{program, "--port", std::to_string(port_), "--bind", "127.0.0.1",
        "--save", "", "--appendonly", "no", "--dir", directory_, "--logfile", directory_ + "/log",
        "--daemonize", "no"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    pid_ = spawn(program, std::move(all));

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

void redis_server::remove() noexcept
{
    kill();
    std::error_code ignored;
    if (!directory_.empty())
        fs::remove_all(directory_, ignored);
}

std::string redis_server::log() const
{
    std::ifstream file(directory_ + "/log");
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
