// Locks in MariaDB as they are made without this library: a row and one statement for each acquire
// and release; GET_LOCK(); and SELECT ... FOR UPDATE in a transaction. Acquires and releases
// distinct resources with a given number in flight, like lock_client; or takes turns on one
// resource with other processes, like turn_client. Prints the figures as one line of JSON.
//
// Settings: libmariadb with prepared statements; a connection and a thread for each lock in flight,
// as its protocol answers one statement before the next, unless --connections says fewer.
#include "command_line.hpp"
#include "load_options.hpp"

#include <boost/json/array.hpp>

#include <mysql.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace json = boost::json;
namespace po = boost::program_options;
using wall = std::chrono::system_clock;

struct step {
    std::string text;
    bool has_parameter = true; // the resource
    bool returns_one = true;   // a row whose only value is 1; otherwise so many rows are changed
};

struct kind {
    std::string name;
    std::vector<step> acquire, release;
};

const std::vector<kind>& kinds()
{
    static const std::vector<kind> all{
        {.name = "statement",
            .acquire = {{.text = "UPDATE bench_locks SET owner = CONNECTION_ID(), "
                                 "expires_at = UTC_TIMESTAMP(6) + INTERVAL 10 SECOND "
                                 "WHERE id = ? AND expires_at <= UTC_TIMESTAMP(6)",
                .returns_one = false}},
            .release = {{.text = "UPDATE bench_locks SET owner = 0, expires_at = '2000-01-01' "
                                 "WHERE id = ? AND owner = CONNECTION_ID()",
                .returns_one = false}}},
        {.name = "get_lock",
            .acquire = {{.text = "SELECT GET_LOCK(?, 600)"}},
            .release = {{.text = "SELECT RELEASE_LOCK(?)"}}},
        {.name = "for_update",
            .acquire = {{.text = "BEGIN", .has_parameter = false, .returns_one = false},
                {.text = "SELECT 1 FROM bench_locks WHERE id = ? FOR UPDATE"}},
            .release = {{.text = "COMMIT", .has_parameter = false, .returns_one = false}}},
    };
    return all;
}

const kind& kind_named(const std::string& name)
{
    for (const kind& each : kinds()) {
        if (each.name == name)
            return each;
    }
    throw std::invalid_argument("--kind must be statement, get_lock or for_update");
}

// A connection to mysql://user@host:port/database, without a password. All calls block.
class connection {
public:
    explicit connection(const std::string& url) : handle_(::mysql_init(nullptr))
    {
        const auto user = url.find("://") + 3, at = url.find('@', user);
        const auto colon = url.find(':', at), slash = url.find('/', at);
        if (slash == url.npos)
            throw std::invalid_argument("--node must be mysql://user@host:port/database");
        const std::string host = url.substr(at + 1, colon - at - 1);
        if (::mysql_real_connect(handle_.get(), host.c_str(), url.substr(user, at - user).c_str(),
                "", url.substr(slash + 1).c_str(),
                static_cast<unsigned>(std::stoul(url.substr(colon + 1))), nullptr,
                CLIENT_FOUND_ROWS) == nullptr)
            fail();
    }

    void run(const std::string& statement)
    {
        if (::mysql_real_query(handle_.get(), statement.data(), statement.size()) != 0)
            fail();
    }

    // Such as 10.11.6, of 10.11.6-MariaDB-1.
    std::string version() const
    {
        const std::string said = ::mysql_get_server_info(handle_.get());
        return said.substr(0, said.find('-'));
    }

    [[noreturn]] void fail() { throw std::runtime_error(::mysql_error(handle_.get())); }

    MYSQL* handle() const noexcept { return handle_.get(); }

private:
    struct finish {
        void operator()(MYSQL* each) const noexcept { ::mysql_close(each); }
    };
    std::unique_ptr<MYSQL, finish> handle_;
};

// A prepared statement for one resource. Nobody else wants that, so it must succeed.
class prepared {
public:
    prepared(connection& at, const step& what, std::string resource)
        : what_(what),
          resource_(std::move(resource)),
          length_(resource_.size()),
          handle_(::mysql_stmt_init(at.handle()))
    {
        if (::mysql_stmt_prepare(handle_.get(), what.text.data(), what.text.size()) != 0)
            fail();
        if (!what.has_parameter)
            return;
        MYSQL_BIND given{};
        given.buffer_type = MYSQL_TYPE_STRING;
        given.buffer = resource_.data();
        given.buffer_length = length_;
        given.length = &length_;
        if (::mysql_stmt_bind_param(handle_.get(), &given) != 0)
            fail();
    }
    prepared(prepared&&) = delete;

    void run()
    {
        if (::mysql_stmt_execute(handle_.get()) != 0)
            fail();
        if (what_.returns_one)
            read();
        else if (what_.has_parameter && ::mysql_stmt_affected_rows(handle_.get()) != 1)
            throw std::runtime_error("a lock was not free, or not held");
    }

private:
    void read()
    {
        std::int64_t value = 0;
        MYSQL_BIND found{};
        found.buffer_type = MYSQL_TYPE_LONGLONG;
        found.buffer = &value;
        if (::mysql_stmt_bind_result(handle_.get(), &found) != 0 ||
            ::mysql_stmt_store_result(handle_.get()) != 0 || ::mysql_stmt_fetch(handle_.get()) != 0)
            fail();
        ::mysql_stmt_free_result(handle_.get());
        if (value != 1)
            throw std::runtime_error("a lock was not free, or not held");
    }

    [[noreturn]] void fail() { throw std::runtime_error(::mysql_stmt_error(handle_.get())); }

    struct finish {
        void operator()(MYSQL_STMT* each) const noexcept { ::mysql_stmt_close(each); }
    };
    const step& what_;
    std::string resource_;
    unsigned long length_;
    std::unique_ptr<MYSQL_STMT, finish> handle_;
};

// A lock on a connection of its own.
class own_lock {
public:
    own_lock(const std::string& url, const kind& how, const std::string& resource) : at_(url)
    {
        for (const step& each : how.acquire)
            acquire_.push_back(std::make_unique<prepared>(at_, each, resource));
        for (const step& each : how.release)
            release_.push_back(std::make_unique<prepared>(at_, each, resource));
    }

    void acquire() { run(acquire_); }
    void release() { run(release_); }

private:
    using steps = std::vector<std::unique_ptr<prepared>>;

    static void run(const steps& all)
    {
        for (const auto& each : all)
            each->run();
    }

    connection at_;
    steps acquire_, release_;
};

// Several processes may want to make the table at once.
void make_table(const std::string& url, std::size_t rows)
{
    connection at(url);
    at.run("CREATE TABLE IF NOT EXISTS bench_locks (id bigint PRIMARY KEY, owner bigint NOT NULL, "
           "expires_at datetime(6) NOT NULL) ENGINE = InnoDB");
    std::string all = "INSERT IGNORE INTO bench_locks VALUES ";
    for (std::size_t i = 1; i <= rows; ++i)
        all += (i == 1 ? "(" : ", (") + std::to_string(i) + ", 0, '2000-01-01')";
    at.run(all);
}

class load {
public:
    load(std::string url, const kind& how, const benchmark::load& wanted, std::size_t connections)
        : url_(std::move(url)),
          how_(how),
          wanted_(wanted),
          meter_(wanted)
    {
        for (std::size_t i = 1; i <= connections; ++i)
            threads_.emplace_back([this, i] { guard(i); });
    }

    benchmark::result measure()
    {
        std::this_thread::sleep_for(wanted_.warm_up);
        at_meter([this] { meter_.begin(); });
        std::this_thread::sleep_for(wanted_.length);
        at_meter([this] { meter_.end(); });
        stopping_ = true;
        for (std::thread& each : threads_)
            each.join();
        if (!failure_.empty())
            throw std::runtime_error(failure_);
        return meter_.take();
    }

private:
    template <class Work>
    void at_meter(Work work)
    {
        const std::lock_guard alone(mutex_);
        work();
    }

    void guard(std::size_t number)
    try {
        work(std::to_string(number));
    } catch (const std::exception& e) {
        at_meter([&] { failure_ = e.what(); });
    }

    void work(const std::string& resource)
    {
        own_lock mine(url_, how_, resource);
        while (!stopping_) {
            const auto asked = meter_.now();
            mine.acquire();
            const auto acquired = meter_.now();
            mine.release();
            at_meter([&] { meter_.count(asked, acquired); });
        }
    }

    const std::string url_;
    const kind& how_;
    const benchmark::load wanted_;
    std::mutex mutex_; // of the meter and the failure
    benchmark::meter meter_;
    std::string failure_;
    std::atomic<bool> stopping_ = false;
    std::vector<std::thread> threads_;
};

std::int64_t nanoseconds_now()
{
    return std::chrono::nanoseconds(wall::now().time_since_epoch()).count();
}

// With the server's own waiting: it wakes the next one.
json::object take_turns(const std::string& url, const kind& how, std::int64_t begin_ms,
    std::chrono::milliseconds length, std::chrono::microseconds hold)
{
    if (how.name == "statement")
        throw std::invalid_argument("--turns: such a lock cannot be waited for");
    make_table(url, 1);
    own_lock shared(url, how, "1");
    const wall::time_point begin{std::chrono::milliseconds(begin_ms)};
    if (wall::now() > begin)
        throw std::runtime_error("was connected only after --begin");
    std::this_thread::sleep_until(begin);
    const double cpu = benchmark::cpu_seconds_now();
    json::array holds;
    while (wall::now() < begin + length) {
        shared.acquire();
        const auto from = nanoseconds_now();
        if (hold.count() > 0)
            std::this_thread::sleep_for(hold);
        holds.push_back(json::array{from, nanoseconds_now()});
        shared.release();
    }
    return {{"cpu_seconds", benchmark::cpu_seconds_now() - cpu}, {"holds", std::move(holds)}};
}

void run(int argc, char** argv)
{
    std::string name = "statement", resource;
    std::size_t connections = 0;
    bool turns = false, version = false;
    std::int64_t begin_ms = 0, hold_us = 0;
    benchmark::load_options options("mariadb_locks");
    options.add()("kind", po::value(&name)->default_value(name),
        "statement: rows, one statement each; get_lock: GET_LOCK(); for_update: locked rows");
    options.add()("connections", po::value(&connections),
        "locks in flight, instead of --concurrency, where fewer are faster");
    options.add()("version", po::bool_switch(&version), "print the version of the server");
    options.add()("turns", po::bool_switch(&turns), "all processes want one resource");
    options.add()("resource", po::value(&resource), "with --turns; all have the same one");
    options.add()("begin", po::value(&begin_ms), "with --turns: when all begin");
    options.add()("hold", po::value(&hold_us),
        "with --turns: microseconds for which each lock is held at least");
    if (!options.parse(argc, argv))
        return;
    const kind& how = kind_named(name);
    const std::string& url = options.nodes().front();
    ::mysql_library_init(0, nullptr, nullptr);
    if (version)
        return benchmark::print({{"version", connection(url).version()}});
    if (turns)
        return benchmark::print(take_turns(
            url, how, begin_ms, options.wanted().length, std::chrono::microseconds(hold_us)));
    if (connections == 0)
        connections = options.wanted().concurrency;
    make_table(url, connections);
    load all(url, how, options.wanted(), connections);
    benchmark::print(benchmark::figures(all.measure()));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("mariadb_locks", [&] { run(argc, argv); });
}
