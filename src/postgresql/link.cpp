#include "postgresql/link.hpp"

#include <libpq-fe.h>

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::postgresql_store {

using core::readiness;
using core::time_point;

namespace {

class table final : public sql::result {
public:
    explicit table(const PGresult* of) noexcept : result_(of) {}

    std::size_t rows() const noexcept override
    {
        return static_cast<std::size_t>(::PQntuples(result_));
    }
    std::size_t columns() const noexcept override
    {
        return static_cast<std::size_t>(::PQnfields(result_));
    }
    std::string_view text(std::size_t row, std::size_t column) const noexcept override
    {
        const int r = static_cast<int>(row), c = static_cast<int>(column);
        return {
            ::PQgetvalue(result_, r, c), static_cast<std::size_t>(::PQgetlength(result_, r, c))};
    }

private:
    const PGresult* result_;
};

struct clear {
    void operator()(PGresult* each) const noexcept { ::PQclear(each); }
};
using owned_result = std::unique_ptr<PGresult, clear>;

void ignore(void*, const PGresult*) {}

// A server that sends without end must not keep the thread.
constexpr int most_reads = 100;

bool is_readable(int handle) noexcept
{
    pollfd one{.fd = handle, .events = POLLIN, .revents = 0};
    return handle >= 0 && ::poll(&one, 1, 0) > 0;
}

std::string repeated(const std::string& part, std::size_t times)
{
    std::string all = part;
    for (std::size_t i = 1; i < times; ++i)
        all += "," + part;
    return all;
}

} // namespace

void link::finish::operator()(pg_conn* each) const noexcept
{
    ::PQfinish(each);
}

link::link(const connection_string& settings, link_owner& owner)
    : settings_(settings),
      owner_(owner)
{}

link::~link() = default;

void link::begin(std::size_t server)
{
    server_ = server;
    now_ = state::wanted;
}

void link::close() noexcept
{
    if (now_ == state::idle)
        return;
    ++incarnation_;
    connection_.reset();
    now_ = state::closing;
    wants_ = readiness::none;
    busy_ = false;
}

const core::address& link::target() const noexcept
{
    return settings_.servers[server_].where;
}

bool link::wants_open() const noexcept
{
    return now_ != state::idle && now_ != state::closing;
}

// libpq tries the addresses one after the other.
void link::open(std::span<const std::string> addresses, time_point now)
{
    if (now_ != state::wanted)
        return;
    const server_address& server = settings_.servers[server_];
    std::string numeric;
    for (const std::string& each : order_.begin(server_, addresses))
        numeric += (numeric.empty() ? "" : ",") + each;
    const std::size_t count = std::max<std::size_t>(addresses.size(), 1);
    const std::string host = repeated(server.host, count), port = repeated(server.port, count);
    std::vector<const char*> names, values;
    const auto add = [&](const char* name, const char* value) {
        names.push_back(name);
        values.push_back(value);
    };
    for (const auto& [name, value] : settings_.others)
        add(name.c_str(), value.c_str());
    if (!server.host.empty())
        add("host", host.c_str());
    if (!numeric.empty())
        add("hostaddr", numeric.c_str());
    add("port", port.c_str());
    add(nullptr, nullptr);

    connection_.reset(::PQconnectStartParams(names.data(), values.data(), 0));
    ++incarnation_;
    now_ = state::connecting;
    wants_ = readiness::writable;
    if (!connection_)
        return lose("out of memory", now);
    // Errors tell their SQLSTATE; notices are not printed.
    ::PQsetErrorVerbosity(connection_.get(), PQERRORS_VERBOSE);
    ::PQsetNoticeReceiver(connection_.get(), ignore, nullptr);
    if (::PQstatus(connection_.get()) == CONNECTION_BAD)
        lose(now);
}

void link::closed(error_code why, time_point now)
{
    if (now_ == state::closing) {
        now_ = state::idle;
        return;
    }
    if (now_ == state::idle)
        return;
    lose(why.message(), now);
    now_ = state::idle; // the I/O layer knows it
}

int link::handle() const noexcept
{
    return connection_ ? ::PQsocket(connection_.get()) : -1;
}

void link::ready(readiness what, time_point now)
{
    if (now_ == state::connecting)
        return connect_further(now);
    if (now_ != state::connected)
        return;
    if (includes(what, readiness::writable))
        write(now);
    if (includes(what, readiness::readable))
        read(now);
}

// The call may have replaced the socket.
void link::connect_further(time_point now)
{
    const PostgresPollingStatusType next = ::PQconnectPoll(connection_.get());
    ++incarnation_;
    switch (next) {
    case PGRES_POLLING_READING:
        wants_ = readiness::readable;
        return;
    case PGRES_POLLING_WRITING:
        wants_ = readiness::writable;
        return;
    case PGRES_POLLING_OK:
        break;
    default:
        return lose(now);
    }
    if (::PQsetnonblocking(connection_.get(), 1) != 0)
        return lose(now);
    now_ = state::connected;
    wants_ = readiness::readable;
    order_.worked(server_);
    owner_.on_connected(::PQbackendPID(connection_.get()), now);
}

void link::read(time_point now)
{
    int reads = 0;
    do {
        if (now_ != state::connected)
            return;
        if (::PQconsumeInput(connection_.get()) != 1)
            return lose(now);
        take_results(now);
    } while (++reads < most_reads && is_readable(handle()));
}

// First the results, then the notifications: libpq finds those behind a result only then, and they
// may be about a place in the queue that the result tells.
void link::take_results(time_point now)
{
    while (now_ == state::connected && busy_ && ::PQisBusy(connection_.get()) == 0) {
        const owned_result next(::PQgetResult(connection_.get()));
        if (!next) {
            busy_ = false;
            owner_.on_query_end(now);
            break;
        }
        switch (::PQresultStatus(next.get())) {
        case PGRES_TUPLES_OK:
            owner_.on_result(table(next.get()));
            break;
        case PGRES_FATAL_ERROR: {
            const char* const code = ::PQresultErrorField(next.get(), PG_DIAG_SQLSTATE);
            const char* const text = ::PQresultErrorField(next.get(), PG_DIAG_MESSAGE_PRIMARY);
            owner_.on_error(code != nullptr ? code : "08006", text != nullptr ? text : "");
            break;
        }
        default:
            break;
        }
    }
    take_notifications(now);
}

void link::take_notifications(time_point now)
{
    struct release {
        void operator()(PGnotify* each) const noexcept { ::PQfreemem(each); }
    };
    while (now_ == state::connected) {
        const std::unique_ptr<PGnotify, release> next(::PQnotifies(connection_.get()));
        if (!next)
            return;
        owner_.on_notification(next->extra, now);
    }
}

void link::write(time_point now)
{
    const int left = ::PQflush(connection_.get());
    if (left < 0)
        return lose(now);
    wants_ = left > 0 ? readiness::both : readiness::readable;
}

bool link::has_output() const noexcept
{
    return now_ == state::connected && !busy_ && owner_.has_query();
}

void link::flush(time_point now)
{
    while (has_output()) {
        const auto next = owner_.next_query(now);
        if (!next)
            return;
        send(*next, now);
    }
}

void link::send(const query& what, time_point now)
{
    std::vector<const char*> values;
    values.reserve(what.parameters.size());
    for (const std::string& each : what.parameters)
        values.push_back(each.c_str());
    const int count = static_cast<int>(values.size());
    int sent = 0;
    switch (what.how) {
    case query::kind::plain:
        sent = ::PQsendQuery(connection_.get(), what.text.c_str());
        break;
    case query::kind::once:
        sent = ::PQsendQueryParams(connection_.get(), what.text.c_str(), count, nullptr,
            values.data(), nullptr, nullptr, 0);
        break;
    case query::kind::prepare:
        sent = ::PQsendPrepare(connection_.get(), what.name.c_str(), what.text.c_str(), 0, nullptr);
        break;
    case query::kind::prepared:
        sent = ::PQsendQueryPrepared(
            connection_.get(), what.name.c_str(), count, values.data(), nullptr, nullptr, 0);
        break;
    }
    if (sent != 1)
        return lose(now);
    busy_ = true;
    write(now);
}

void link::lose(time_point now)
{
    lose(::PQerrorMessage(connection_.get()), now);
}

void link::lose(const std::string& message, time_point now)
{
    close();
    owner_.on_lost(message, now);
}

} // namespace holdfast::postgresql_store
