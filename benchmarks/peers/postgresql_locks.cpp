// Locks in PostgreSQL as they are made without this library: a row and one statement for each
// acquire and release; advisory locks; and SELECT ... FOR UPDATE in a transaction. Acquires and
// releases distinct resources with a given number in flight, like lock_client; or takes turns on
// one resource with other processes, like turn_client. Prints the figures as one line of JSON.
//
// Settings: libpq with prepared statements. Several in flight on one connection are pipelined, each
// in a transaction of its own. A row lock needs a connection for each lock that is held.
#include "command_line.hpp"
#include "load_options.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>

#include <libpq-fe.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using wall = std::chrono::system_clock;

// Statements of one kind of lock. All but BEGIN and COMMIT have one parameter, the resource.
struct kind {
    std::string name;
    std::vector<std::string> acquire, release;
    std::string wait{}; // instead of the last statement of acquire, if it cannot wait
    bool is_transaction = false;
};

const std::vector<kind>& kinds()
{
    static const std::vector<kind> all{
        {.name = "statement",
            .acquire = {"INSERT INTO bench_locks AS l (id, owner, expires_at) VALUES ($1::bigint, "
                        "'me', clock_timestamp() + interval '10 s') ON CONFLICT (id) DO UPDATE "
                        "SET owner = 'me', expires_at = clock_timestamp() + interval '10 s' "
                        "WHERE l.expires_at <= clock_timestamp() RETURNING true"},
            .release = {"UPDATE bench_locks SET owner = '', expires_at = 'epoch' "
                        "WHERE id = $1::bigint AND owner = 'me' RETURNING true"}},
        {.name = "advisory",
            .acquire = {"SELECT pg_try_advisory_lock($1::bigint)"},
            .release = {"SELECT pg_advisory_unlock($1::bigint)"},
            .wait = "SELECT true FROM pg_advisory_lock($1::bigint)"},
        {.name = "for_update",
            .acquire = {"BEGIN", "SELECT true FROM bench_locks WHERE id = $1::bigint FOR UPDATE"},
            .release = {"COMMIT"},
            .is_transaction = true},
    };
    return all;
}

const kind& kind_named(const std::string& name)
{
    for (const kind& each : kinds()) {
        if (each.name == name)
            return each;
    }
    throw std::invalid_argument("--kind must be statement, advisory or for_update");
}

struct finish {
    void operator()(PGconn* each) const noexcept { ::PQfinish(each); }
    void operator()(PGresult* each) const noexcept { ::PQclear(each); }
};
using connection = std::unique_ptr<PGconn, finish>;
using table = std::unique_ptr<PGresult, finish>;

[[noreturn]] void fail(PGconn* at)
{
    throw std::runtime_error(::PQerrorMessage(at));
}

// What returns rows must return one that is true: nobody else wants these resources.
void check(PGconn* at, const PGresult* result)
{
    const auto status = ::PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR || status == PGRES_PIPELINE_ABORTED)
        fail(at);
    if (status == PGRES_TUPLES_OK &&
        (::PQntuples(result) != 1 || *::PQgetvalue(result, 0, 0) != 't'))
        throw std::runtime_error("a lock was not free, or not held");
}

void execute(PGconn* at, const std::string& commands)
{
    const table result(::PQexec(at, commands.c_str()));
    const auto status = ::PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail(at);
}

connection connect(const std::string& url)
{
    connection made(::PQconnectdb(url.c_str()));
    if (::PQstatus(made.get()) != CONNECTION_OK)
        fail(made.get());
    return made;
}

// Several processes may want to make the table at once.
void make_table(PGconn* at, std::size_t rows)
{
    execute(at, "SELECT pg_advisory_lock(-1)");
    execute(at, "CREATE TABLE IF NOT EXISTS bench_locks (id bigint PRIMARY KEY, "
                "owner text NOT NULL, expires_at timestamptz NOT NULL) WITH (fillfactor = 50)");
    execute(at, "INSERT INTO bench_locks SELECT i, '', 'epoch' FROM generate_series(1, " +
                    std::to_string(rows) +
                    ") i ON CONFLICT (id) DO UPDATE "
                    "SET owner = '', expires_at = 'epoch'");
    execute(at, "SELECT pg_advisory_unlock(-1)");
}

bool has_parameter(const std::string& statement)
{
    return statement.find('$') != statement.npos;
}

// The text is its own name.
void prepare(PGconn* at, const std::vector<std::string>& statements)
{
    for (const std::string& each : statements) {
        const table done(::PQprepare(at, each.substr(0, 63).c_str(), each.c_str(), 0, nullptr));
        check(at, done.get());
    }
}

// A connection with the statements of several locks in flight.
class pipeline {
public:
    pipeline(asio::io_context& io, const std::string& url, const kind& how)
        : connection_(connect(url)),
          socket_(io, ::dup(::PQsocket(connection_.get())))
    {
        prepare(connection_.get(), how.acquire);
        prepare(connection_.get(), how.release);
        if (::PQenterPipelineMode(connection_.get()) != 1 ||
            ::PQsetnonblocking(connection_.get(), 1) != 0)
            fail(connection_.get());
    }

    void ask(const std::vector<std::string>& statements, const std::string& resource,
        std::function<void()> done)
    {
        PGconn* const to = connection_.get();
        for (const std::string& each : statements) {
            const char* const value = resource.c_str();
            if (::PQsendQueryPrepared(to, each.substr(0, 63).c_str(), has_parameter(each) ? 1 : 0,
                    &value, nullptr, nullptr, 0) != 1)
                fail(to);
        }
        if (::PQpipelineSync(to) != 1)
            fail(to);
        waiting_.push_back(std::move(done));
        write();
        if (!std::exchange(reads_, true))
            read();
    }

private:
    void write()
    {
        const int left = ::PQflush(connection_.get());
        if (left < 0)
            fail(connection_.get());
        if (left == 0 || std::exchange(writes_, true))
            return;
        socket_.async_wait(socket_.wait_write, [this](boost::system::error_code) {
            writes_ = false;
            write();
        });
    }

    // Ends when nothing is in flight.
    void read()
    {
        socket_.async_wait(socket_.wait_read, [this](boost::system::error_code) {
            if (::PQconsumeInput(connection_.get()) != 1)
                fail(connection_.get());
            take_results();
            reads_ = !waiting_.empty();
            if (reads_)
                read();
        });
    }

    void take_results()
    {
        while (!waiting_.empty() && ::PQisBusy(connection_.get()) == 0) {
            const table next(::PQgetResult(connection_.get()));
            if (!next)
                continue; // the end of a statement
            check(connection_.get(), next.get());
            if (::PQresultStatus(next.get()) != PGRES_PIPELINE_SYNC)
                continue;
            const auto done = std::move(waiting_.front());
            waiting_.pop_front();
            done();
        }
    }

    connection connection_;
    asio::posix::stream_descriptor socket_;
    std::deque<std::function<void()>> waiting_;
    bool reads_ = false, writes_ = false;
};

// The second half of the locks begins when the first half is held. So acquires and releases, which
// are executed in turn, alternate.
class load {
public:
    load(asio::io_context& io, const std::string& url, const kind& how,
        const benchmark::load& wanted, std::size_t connections)
        : how_(how),
          count_(wanted.concurrency),
          meter_(wanted)
    {
        for (std::size_t i = 0; i < connections; ++i)
            connections_.push_back(std::make_unique<pipeline>(io, url, how));
        while (begun_ < (wanted.concurrency + 1) / 2)
            acquire(begun_++);
    }

    benchmark::meter& meter() { return meter_; }

    void acquire(std::size_t slot)
    {
        const auto asked = meter_.now();
        pipeline& to = *connections_[slot % connections_.size()];
        const std::string resource = std::to_string(slot + 1);
        to.ask(how_.acquire, resource, [this, &to, slot, resource, asked] {
            const auto acquired = meter_.now();
            if (begun_ < count_)
                acquire(begun_++);
            to.ask(how_.release, resource, [this, slot, asked, acquired] {
                meter_.count(asked, acquired);
                acquire(slot);
            });
        });
    }

private:
    const kind& how_;
    const std::size_t count_;
    std::size_t begun_ = 0;
    benchmark::meter meter_;
    std::vector<std::unique_ptr<pipeline>> connections_;
};

benchmark::result measure(
    const std::string& url, const kind& how, const benchmark::load& wanted, std::size_t connections)
{
    make_table(connect(url).get(), wanted.concurrency);
    asio::io_context io(1);
    load all(io, url, how, wanted, connections);
    asio::steady_timer timer(io, wanted.warm_up);
    timer.async_wait([&](boost::system::error_code) {
        all.meter().begin();
        timer.expires_after(wanted.length);
        timer.async_wait([&](boost::system::error_code) {
            all.meter().end();
            io.stop();
        });
    });
    io.run();
    return all.meter().take();
}

std::int64_t nanoseconds_now()
{
    return std::chrono::nanoseconds(wall::now().time_since_epoch()).count();
}

// With the server's own waiting: it wakes the next one.
json::object take_turns(const std::string& url, kind how, std::int64_t begin_ms,
    std::chrono::milliseconds length, std::chrono::microseconds hold)
{
    if (how.name == "statement")
        throw std::invalid_argument("--turns: such a lock cannot be waited for");
    if (!how.wait.empty())
        how.acquire.back() = how.wait;
    const connection to = connect(url);
    make_table(to.get(), 1);
    prepare(to.get(), how.acquire);
    prepare(to.get(), how.release);
    const auto run = [&to](const std::vector<std::string>& statements) {
        for (const std::string& each : statements) {
            const char* const value = "1";
            const table done(::PQexecPrepared(to.get(), each.substr(0, 63).c_str(),
                has_parameter(each) ? 1 : 0, &value, nullptr, nullptr, 0));
            check(to.get(), done.get());
        }
    };
    const wall::time_point begin{std::chrono::milliseconds(begin_ms)};
    if (wall::now() > begin)
        throw std::runtime_error("was connected only after --begin");
    std::this_thread::sleep_until(begin);
    const double cpu = benchmark::cpu_seconds_now();
    json::array holds;
    while (wall::now() < begin + length) {
        run(how.acquire);
        const auto from = nanoseconds_now();
        if (hold.count() > 0)
            std::this_thread::sleep_for(hold);
        holds.push_back(json::array{from, nanoseconds_now()});
        run(how.release);
    }
    return {{"cpu_seconds", benchmark::cpu_seconds_now() - cpu}, {"holds", std::move(holds)}};
}

void run(int argc, char** argv)
{
    std::string name = "statement", resource;
    std::size_t connections = 0;
    bool turns = false;
    std::int64_t begin_ms = 0, hold_us = 0;
    benchmark::load_options options("postgresql_locks");
    options.add()("kind", po::value(&name)->default_value(name),
        "statement: rows, one statement each; advisory: advisory locks; for_update: locked rows");
    options.add()("connections", po::value(&connections),
        "which share the locks in flight; for_update has one for each lock, so these are the locks "
        "in flight, instead of --concurrency");
    options.add()("turns", po::bool_switch(&turns), "all processes want one resource");
    options.add()("resource", po::value(&resource), "with --turns; all have the same one");
    options.add()("begin", po::value(&begin_ms), "with --turns: when all begin");
    options.add()("hold", po::value(&hold_us),
        "with --turns: microseconds for which each lock is held at least");
    if (!options.parse(argc, argv))
        return;
    const kind& how = kind_named(name);
    const std::string& url = options.nodes().front();
    if (turns)
        return benchmark::print(take_turns(
            url, how, begin_ms, options.wanted().length, std::chrono::microseconds(hold_us)));
    benchmark::load wanted = options.wanted();
    if (connections == 0)
        connections = how.is_transaction ? wanted.concurrency : 1;
    if (connections > wanted.concurrency)
        throw std::invalid_argument("--connections must be at most --concurrency");
    if (how.is_transaction)
        wanted.concurrency = connections;
    benchmark::print(benchmark::figures(measure(url, how, wanted, connections)));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("postgresql_locks", [&] { run(argc, argv); });
}
