#include "postgres_server.hpp"

#include <libpq-fe.h>

#include <csignal>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace flash_sale_web {
namespace {

using holdfast::test::child_options;
using holdfast::test::child_process;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto start_limit = 60s; // generous: busy machines
constexpr auto server_user = "postgres";

// Debian keeps the server's programs out of the PATH, in a folder for each version.
std::string program(const std::string& name)
{
    fs::path newest;
    int version = 0;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
        const int number = std::atoi(entry.path().filename().c_str());
        if (number > version && fs::exists(entry.path() / "bin" / name)) {
            version = number;
            newest = entry.path() / "bin" / name;
        }
    }
    return newest.empty() ? name : newest.string();
}

// setpriv asks for the signal at the parent's death after the change of the user, which ends an
// earlier request. SIGQUIT stops the server at once, with all its processes.
std::vector<std::string> as_server_user(const std::vector<std::string>& words)
{
    std::vector<std::string> all{"setpriv", "--pdeathsig=QUIT"};
    if (::geteuid() == 0) {
        const std::string user = server_user;
        all.insert(all.end(), {"--reuid=" + user, "--regid=" + user, "--init-groups"});
    }
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

void give_to_server_user(const std::string& folder)
{
    if (::geteuid() != 0)
        return;
    const passwd* const user = ::getpwnam(server_user);
    if (user == nullptr)
        throw std::runtime_error("PostgreSQL does not run as root, and there is no user postgres");
    if (::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::system_error(errno, std::generic_category(), folder);
}

void make_cluster(const std::string& data)
{
    child_process maker(as_server_user({program("initdb"), "--pgdata=" + data, "--username=shop",
        "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"}));
    std::string said;
    for (std::string line = maker.read_line(); !line.empty(); line = maker.read_line())
        said += line + "\n";
    if (maker.wait() != 0)
        throw std::runtime_error("initdb has failed:\n" + said);
}

} // namespace

postgres_server::postgres_server()
{
    give_to_server_user(folder_.path());
    const std::string data = folder_.path() + "/data";
    make_cluster(data);
    // A frozen client must not hold its row locks for ever.
    const std::vector<std::string> words{program("postgres"), "-D", data, "-k", folder_.path(),
        "-c", "listen_addresses=", "-c", "max_connections=300", "-c",
        "idle_in_transaction_session_timeout=2s", "-c", "log_min_messages=fatal", "-c",
        "logging_collector=on", "-c", "log_directory=" + folder_.path(), "-c", "log_filename=log"};
    process_.emplace(as_server_user(words), child_options{.piped = child_options::pipes::none});

    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (::PQping(where().c_str()) != PQPING_OK) {
        if (!process_->running() || std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("PostgreSQL did not start; its log:\n" + log());
        std::this_thread::sleep_for(10ms);
    }
}

// An orderly end, so that its shared memory is given back.
postgres_server::~postgres_server()
{
    if (!process_ || !process_->running())
        return;
    ::kill(process_->pid(), SIGQUIT);
    process_->wait();
}

std::string postgres_server::where() const
{
    return "host=" + folder_.path() + " user=shop dbname=postgres connect_timeout=10";
}

std::string postgres_server::log() const
{
    std::ifstream file(folder_.path() + "/log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace flash_sale_web
