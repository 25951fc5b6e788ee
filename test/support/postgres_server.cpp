#include "support/postgres_server.hpp"

#include "support/redis_server.hpp"
#include "support/server_user.hpp"

#include <libpq-fe.h>

#include <csignal>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto start_limit = 60s; // generous: busy machines

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

// Runs a program to its end.
void run_to_end(const std::vector<std::string>& words)
{
    child_process maker(as_server_user(words));
    std::string said;
    for (std::string line = maker.read_line(); !line.empty(); line = maker.read_line())
        said += line + "\n";
    if (maker.wait() != 0)
        throw std::runtime_error(words.front() + " has failed:\n" + said);
}

// The data of a new server, made once. Half-made data is not used again.
const std::string& new_data()
{
    static const std::unique_ptr<const temporary_folder> folder = [] {
        auto made = std::make_unique<const temporary_folder>("postgres-data");
        give_to_server_user(made->path());
        run_to_end({program("initdb"), "--pgdata=" + made->path() + "/data", "--username=shop",
            "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"});
        return made;
    }();
    static const std::string path = folder->path() + "/data";
    return path;
}

struct finish {
    void operator()(PGconn* each) const noexcept { ::PQfinish(each); }
    void operator()(PGresult* each) const noexcept { ::PQclear(each); }
};
using pq_connection = std::unique_ptr<PGconn, finish>;
using results = std::unique_ptr<PGresult, finish>;

std::vector<std::string> rows_of(PGconn* on, const results& found)
{
    const auto status = ::PQresultStatus(found.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        throw std::runtime_error(::PQerrorMessage(on));
    std::vector<std::string> rows;
    for (int i = 0; i < ::PQntuples(found.get()); ++i) {
        std::string& row = rows.emplace_back();
        for (int j = 0; j < ::PQnfields(found.get()); ++j) {
            const bool null = ::PQgetisnull(found.get(), i, j) != 0;
            row += (j == 0 ? "" : "|");
            row += null ? "NULL" : ::PQgetvalue(found.get(), i, j);
        }
    }
    return rows;
}

} // namespace

postgres_server::postgres_server(postgres_options options) : options_(std::move(options))
{
    give_to_server_user(folder_.path());
    if (options_.primary == nullptr)
        make_data();
    else
        copy_data(*options_.primary);
    for (const auto& [from, name] :
        {std::pair(options_.certificate, "server.crt"), std::pair(options_.key, "server.key")}) {
        if (!from.empty())
            copy_secret(from, name);
    }
    // Another process may take a port between the check and the server's start.
    for (int tries = 1;; ++tries) {
        if (options_.listens)
            port_ = free_port();
        start();
        if (wait_until_ready())
            return;
        if (!options_.listens || tries == 5)
            throw std::runtime_error("PostgreSQL did not start; its log:\n" + log());
    }
}

// An orderly end, so that its shared memory is given back.
postgres_server::~postgres_server()
{
    if (!paused_.empty())
        resume();
    kill(false);
}

// Its user copies, who is the owner then.
void postgres_server::make_data()
{
    const std::string data = folder_.path() + "/data";
    run_to_end({"cp", "--archive", new_data(), data});
    std::ofstream(data + "/pg_hba.conf", std::ios::trunc)
        << "local all,replication shop trust\nhost all shop 127.0.0.1/32 trust\nlocal all all "
        << options_.auth << "\nhost all all 127.0.0.1/32 " << options_.auth << '\n';
}

// It follows the other server, over the unix socket.
void postgres_server::copy_data(const postgres_server& primary)
{
    run_to_end({program("pg_basebackup"), "--pgdata=" + folder_.path() + "/data",
        "--dbname=" + primary.where(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"});
}

// The server requires that nobody else can read a key.
void postgres_server::copy_secret(const std::string& from, const std::string& name)
{
    const std::string to = folder_.path() + "/data/" + name;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write);
    give_to_server_user(to);
}

bool postgres_server::is_installed()
{
    return program("initdb") != "initdb";
}

void postgres_server::start()
{
    std::vector<std::string> words{program("postgres"), "-D", folder_.path() + "/data", "-k",
        folder_.path(), "-p", std::to_string(port_)};
    std::vector<std::string> settings{
        options_.listens ? "listen_addresses=127.0.0.1" : "listen_addresses=",
        "log_min_messages=fatal", "logging_collector=on", "log_directory=" + folder_.path(),
        "log_filename=log"};
    if (std::getenv("HOLDFAST_WITHOUT_FSYNC") != nullptr)
        settings.emplace_back("fsync=off");
    if (!options_.certificate.empty())
        settings.emplace_back("ssl=on"); // of the files of these names in the folder of the data
    settings.insert(settings.end(), options_.settings.begin(), options_.settings.end());
    for (const std::string& each : settings)
        words.insert(words.end(), {"-c", each});
    process_.emplace(as_server_user(words), child_options{.piped = child_options::pipes::none});
}

// False if it has ended.
bool postgres_server::wait_until_ready()
{
    const auto deadline = std::chrono::steady_clock::now() + start_limit;
    while (::PQping(where().c_str()) != PQPING_OK) {
        if (!process_->running())
            return false;
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("PostgreSQL did not start in time; its log:\n" + log());
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

std::string postgres_server::address() const
{
    return "host=" + folder_.path() + " port=" + std::to_string(port_);
}

std::string postgres_server::where() const
{
    return address() + " user=shop dbname=postgres connect_timeout=10";
}

std::string postgres_server::uri(const std::string& user) const
{
    return "postgresql://" + user + "@127.0.0.1:" + std::to_string(port_) + "/postgres";
}

// A child of a killed main process may answer its client before it notices, so the children end
// first. The main process is stopped: it does not see that, and their numbers are not used again.
void postgres_server::kill(bool by_signal)
{
    if (!process_ || !process_->running())
        return;
    if (by_signal) {
        process_->pause();
        paused_.clear();
        waker_.reset();
        const std::vector<int> all = processes();
        std::for_each(all.begin() + 1, all.end(), [](int child) {
            ::kill(child, SIGKILL);
            await_end(child);
        });
        return process_->kill();
    }
    ::kill(process_->pid(), SIGQUIT);
    process_->wait();
}

void postgres_server::restart()
{
    kill();
    start();
    if (!wait_until_ready())
        throw std::runtime_error("PostgreSQL did not start again; its log:\n" + log());
}

// The main process before the others, so that it starts no more of them. If this process dies, the
// main process gets SIGQUIT, and notices that only after SIGCONT. Then the waker's input ends, and
// the waker, which does not die with this process, sends SIGCONT to all of them.
void postgres_server::pause()
{
    process_.value().pause();
    paused_ = processes();
    std::vector<std::string> words{
        "setpriv", "--pdeathsig=clear", "sh", "-c", "read line; kill -CONT \"$@\"", "sh"};
    for (const int each : paused_)
        words.push_back(std::to_string(each));
    waker_.emplace(words, child_options{.piped = child_options::pipes::input_and_output});
    for (const int each : paused_)
        ::kill(each, SIGSTOP);
}

void postgres_server::resume()
{
    waker_.reset();
    for (const int each : std::exchange(paused_, {}))
        ::kill(each, SIGCONT);
}

// Its main process, and the children of that.
std::vector<int> postgres_server::processes() const
{
    const std::string pid = std::to_string(process_.value().pid());
    std::vector<int> all{process_->pid()};
    std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
    for (int each = 0; children >> each;)
        all.push_back(each);
    return all;
}

std::string postgres_server::run(const std::string& commands) const
{
    const pq_connection made(::PQconnectdb(where().c_str()));
    const results last(::PQexec(made.get(), commands.c_str()));
    switch (::PQresultStatus(last.get())) {
    case PGRES_COMMAND_OK:
        return {};
    case PGRES_TUPLES_OK:
        return ::PQntuples(last.get()) == 0 ? "" : ::PQgetvalue(last.get(), 0, 0);
    default:
        throw std::runtime_error(::PQerrorMessage(made.get()));
    }
}

std::string postgres_server::log() const
{
    std::ifstream file(folder_.path() + "/log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct postgres_session::state {
    pq_connection to;
};

postgres_session::postgres_session(const postgres_server& server)
    : state_(new state{pq_connection(::PQconnectdb(server.where().c_str()))})
{
    if (::PQstatus(state_->to.get()) == CONNECTION_OK)
        return;
    const std::string why = ::PQerrorMessage(state_->to.get());
    delete state_;
    throw std::runtime_error(why);
}

postgres_session::~postgres_session()
{
    delete state_;
}

std::vector<std::string> postgres_session::run(const std::string& commands)
{
    PGconn* const on = state_->to.get();
    return rows_of(on, results(::PQexec(on, commands.c_str())));
}

std::vector<std::string> postgres_session::run(
    const std::string& statement, const std::vector<std::string>& values)
{
    std::vector<const char*> texts;
    for (const std::string& each : values)
        texts.push_back(each.c_str());
    PGconn* const on = state_->to.get();
    return rows_of(on, results(::PQexecParams(on, statement.c_str(), static_cast<int>(texts.size()),
                           nullptr, texts.data(), nullptr, nullptr, 0)));
}

} // namespace holdfast::test
