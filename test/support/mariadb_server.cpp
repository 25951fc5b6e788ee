#include "support/mariadb_server.hpp"

#include "support/redis_server.hpp"

#include <mysql.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto start_limit = 60s; // generous: busy machines

std::string program(const std::string& name)
{
    for (const std::string folder : {"/usr/sbin/", "/usr/bin/"}) {
        if (fs::exists(folder + name))
            return folder + name;
    }
    return name;
}

// MariaDB wants to be told that it runs as root.
void add_user(std::vector<std::string>& words)
{
    if (::geteuid() == 0)
        words.emplace_back("--user=root");
}

constexpr const char* log_size = "--innodb-log-file-size=8M";

// A server that starts deletes the temporary tables of all servers in its folder for them.
std::string own_temporary_tables(const std::string& folder)
{
    const std::string path = folder + "/tmp";
    fs::create_directories(path);
    return "--tmpdir=" + path;
}

// The data of a new server, made once. Half-made data is not used again.
const std::string& new_data()
{
    static const std::unique_ptr<const temporary_folder> folder = [] {
        auto made = std::make_unique<const temporary_folder>("mariadb-data");
        std::vector<std::string> words{program("mariadb-install-db"), "--no-defaults",
            "--datadir=" + made->path() + "/data", own_temporary_tables(made->path()),
            "--auth-root-authentication-method=normal", "--skip-test-db", log_size,
            "--innodb-flush-log-at-trx-commit=0"};
        add_user(words);
        child_process maker(words);
        std::string said;
        for (std::string line = maker.read_line(); !line.empty(); line = maker.read_line())
            said += line + "\n";
        while (!maker.read_line().empty()) {
        }
        if (maker.wait() != 0)
            throw std::runtime_error("mariadb-install-db has failed:\n" + said);
        return made;
    }();
    static const std::string path = folder->path() + "/data";
    return path;
}

struct finish {
    void operator()(MYSQL* each) const noexcept { ::mysql_close(each); }
    void operator()(MYSQL_RES* each) const noexcept { ::mysql_free_result(each); }
};
using connection = std::unique_ptr<MYSQL, finish>;

// Null if it cannot be connected.
connection connect(const std::string& socket, const char* database)
{
    connection made(::mysql_init(nullptr));
    const unsigned limit = 10;
    ::mysql_options(made.get(), MYSQL_OPT_CONNECT_TIMEOUT, &limit);
    if (::mysql_real_connect(made.get(), nullptr, "root", "", database, 0, socket.c_str(),
            CLIENT_MULTI_STATEMENTS) == nullptr)
        return nullptr;
    return made;
}

[[noreturn]] void fail(MYSQL* on)
{
    throw std::runtime_error(std::to_string(::mysql_errno(on)) + ": " + ::mysql_error(on));
}

std::vector<std::string> rows_of(MYSQL* on, const std::string& commands)
{
    if (::mysql_real_query(on, commands.data(), commands.size()) != 0)
        fail(on);
    std::vector<std::string> rows;
    for (;;) {
        const std::unique_ptr<MYSQL_RES, finish> found(::mysql_store_result(on));
        if (!found && ::mysql_errno(on) != 0)
            fail(on);
        rows.clear();
        while (const MYSQL_ROW next = found ? ::mysql_fetch_row(found.get()) : nullptr) {
            std::string& row = rows.emplace_back();
            for (unsigned i = 0; i < ::mysql_num_fields(found.get()); ++i)
                row += (i == 0 ? "" : "|") + std::string(next[i] != nullptr ? next[i] : "NULL");
        }
        const int more = ::mysql_next_result(on);
        if (more < 0)
            return rows;
        if (more > 0)
            fail(on);
    }
}

} // namespace

mariadb_server::mariadb_server(mariadb_options options) : options_(std::move(options))
{
    fs::copy(new_data(), folder_.path() + "/data", fs::copy_options::recursive);
    // Another process may take a port between the check and the server's start.
    for (int tries = 1;; ++tries) {
        if (options_.listens)
            port_ = free_port();
        start();
        if (wait_until_ready())
            break;
        if (!options_.listens || tries == 5)
            throw std::runtime_error("MariaDB did not start; its log:\n" + log());
    }
    rows_of(connect(socket(), nullptr).get(), "CREATE DATABASE IF NOT EXISTS shop");
}

mariadb_server::~mariadb_server()
{
    kill();
}

void mariadb_server::start()
{
    std::vector<std::string> words{program("mariadbd"), "--no-defaults",
        "--datadir=" + folder_.path() + "/data", own_temporary_tables(folder_.path()),
        "--socket=" + socket(), "--pid-file=" + folder_.path() + "/pid",
        "--log-error=" + folder_.path() + "/log", "--innodb-buffer-pool-size=64M", log_size,
        "--skip-name-resolve"};
    if (std::getenv("HOLDFAST_WITHOUT_FSYNC") != nullptr)
        words.emplace_back("--innodb-flush-method=nosync");
    if (options_.listens)
        words.insert(words.end(), {"--bind-address=127.0.0.1", "--port=" + std::to_string(port_)});
    else
        words.emplace_back("--skip-networking");
    if (!options_.certificate.empty())
        words.insert(
            words.end(), {"--ssl-cert=" + options_.certificate, "--ssl-key=" + options_.key});
    for (const std::string& each : options_.settings)
        words.push_back("--" + each);
    add_user(words);
    process_.emplace(words, child_options{.piped = child_options::pipes::none});
}

// False if it has ended.
bool mariadb_server::wait_until_ready()
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (!connect(socket(), nullptr)) {
        if (!process_->running())
            return false;
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("MariaDB did not start in time; its log:\n" + log());
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

mysql_options mariadb_server::login() const
{
    mysql_options made;
    made.hosts = {socket()};
    made.user = "root";
    made.database = "shop";
    return made;
}

mysql_options mariadb_server::login(const std::string& user, const std::string& password) const
{
    mysql_options made = login();
    made.hosts = {"127.0.0.1:" + std::to_string(port_)};
    made.user = user;
    made.password = password;
    return made;
}

void mariadb_server::kill()
{
    if (process_)
        process_->kill();
}

void mariadb_server::restart()
{
    kill();
    start();
    if (!wait_until_ready())
        throw std::runtime_error("MariaDB did not start again; its log:\n" + log());
}

void mariadb_server::pause()
{
    process_->pause();
}

void mariadb_server::resume()
{
    process_->resume();
}

std::string mariadb_server::run(const std::string& commands) const
{
    const connection to = connect(socket(), "shop");
    if (!to)
        throw std::runtime_error("no connection to MariaDB");
    const auto rows = rows_of(to.get(), commands);
    return rows.empty() ? "" : rows.front();
}

std::string mariadb_server::log() const
{
    std::ifstream file(folder_.path() + "/log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct mariadb_session::state {
    connection to;
};

mariadb_session::mariadb_session(const mariadb_server& server)
    : state_(new state{connect(server.socket(), "shop")})
{
    if (!state_->to)
        throw std::runtime_error("no connection to MariaDB");
}

mariadb_session::~mariadb_session()
{
    delete state_;
}

std::vector<std::string> mariadb_session::run(const std::string& commands)
{
    return rows_of(state_->to.get(), commands);
}

std::vector<std::string> mariadb_session::run(
    const std::string& statement, const std::vector<std::string>& values)
{
    std::string text;
    std::size_t next = 0;
    for (const char c : statement)
        text += c == '?' ? "'" + values.at(next++) + "'" : std::string(1, c);
    return run(text);
}

std::uint64_t mariadb_session::id() const
{
    return ::mysql_thread_id(state_->to.get());
}

} // namespace holdfast::test
