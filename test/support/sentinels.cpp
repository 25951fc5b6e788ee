#include "support/sentinels.hpp"

#include "support/redis_server.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto start_limit = 20s; // generous: sanitizers and busy machines
constexpr auto poll_interval = 2ms;

} // namespace

redis_sentinel_server::redis_sentinel_server(const std::vector<std::string>& lines)
{
    // Another process may take the port between the check and the start.
    const bool over_tls = std::any_of(
        lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("tls-"); });
    do {
        port_ = free_port();
        tls_port_ = over_tls ? free_port() : 0;
    } while (!start(lines));
}

std::string redis_sentinel_server::tls_url() const
{
    return "rediss://127.0.0.1:" + std::to_string(tls_port_);
}

std::string redis_sentinel_server::url() const
{
    return "redis://127.0.0.1:" + std::to_string(port_);
}

void redis_sentinel_server::kill() noexcept
{
    client_.disconnect();
    process_.reset();
}

std::string redis_sentinel_server::command(
    const std::vector<std::string>& arguments, std::chrono::milliseconds timeout)
{
    return client_.command(port_, arguments, timeout);
}

// Returns false if the port is taken.
bool redis_sentinel_server::start(const std::vector<std::string>& lines)
{
    const std::string file = folder_.path() + "/sentinel.conf"; // which it rewrites
    std::filesystem::remove(folder_.path() + "/log");
    {
        std::ofstream out(file);
        if (tls_port_ != 0)
            out << "tls-port " << tls_port_ << '\n';
        out << "port " << port_ << "\nbind 127.0.0.1\nprotected-mode no\ndaemonize no\ndir "
            << folder_.path() << "\nlogfile " << folder_.path() << "/log\n";
        for (const std::string& line : lines)
            out << line << '\n';
    }
    process_.emplace(std::vector<std::string>{"redis-server", file, "--sentinel"},
        child_options{.piped = child_options::pipes::none});

    // It logs its identity when it listens.
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (log().find("Sentinel ID is") == std::string::npos) {
        const bool exited = !process_->running();
        if (exited || std::chrono::steady_clock::now() > deadline) {
            kill();
            const auto why = log();
            if (why.find("Address already in use") != std::string::npos)
                return false;
            throw std::runtime_error("the sentinel did not start; its log:\n" + why);
        }
        std::this_thread::sleep_for(poll_interval);
    }
    command({"PING"}); // an error is fine: a password may be required
    return true;
}

std::string redis_sentinel_server::log() const
{
    std::ifstream in(folder_.path() + "/log");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace holdfast::test
