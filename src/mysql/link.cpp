#include "mysql/link.hpp"

#include "mysql/error_code.hpp"
#include "mysql/table.hpp"

#include <mysql.h>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

namespace holdfast::mysql_store {

using core::readiness;
using core::time_point;

namespace {

// Ways to log in that do not send the password. The others do, in some cases encrypted with a key
// that the server has sent: anybody between could have sent it.
constexpr const char* safe_ways_to_log_in = "mysql_native_password,client_ed25519,parsec";
constexpr const char* first_way_to_log_in = "mysql_native_password";
constexpr const char* ways_to_log_in_over_tls =
    "mysql_native_password,client_ed25519,parsec,caching_sha2_password";
constexpr const char* tls_versions = "TLSv1.2,TLSv1.3";
constexpr unsigned long longest_answer = 16u << 20u;
constexpr unsigned no_such_host = 2005, cannot_connect = 2002, cannot_connect_there = 2003;

struct release {
    void operator()(MYSQL_RES* each) const noexcept { ::mysql_free_result(each); }
};

// The library shakes hands over TLS without giving back control. Whether it waits no longer than
// the connect timeout then: older versions wait without a limit, or take its seconds for
// milliseconds.
bool bounds_handshake() noexcept
{
    std::size_t version = 0;
    ::mariadb_get_infov(nullptr, MARIADB_CLIENT_VERSION_ID, &version);
    return version >= 30402 || (version >= 30320 && version < 30400);
}

// A server that sends without end must not keep the thread.
constexpr int most_reads = 100;

bool is_readable(int handle) noexcept
{
    pollfd one{.fd = handle, .events = POLLIN, .revents = 0};
    return handle >= 0 && ::poll(&one, 1, 0) > 0;
}

} // namespace

void link::finish::operator()(st_mysql* each) const noexcept
{
    ::mysql_close(each);
}

link::link(const link_settings& settings, link_owner& owner) : settings_(settings), owner_(owner)
{
    // Once, before any thread uses the library.
    [[maybe_unused]] static const int begun = ::mysql_library_init(0, nullptr, nullptr);
}

link::~link()
{
    drop();
}

void link::begin(std::size_t server)
{
    server_ = server;
    now_ = state::wanted;
}

// The library says goodbye, and waits for room in the socket if its last call has not ended: there
// is none if the server stands still.
void link::drop() noexcept
{
    if (call_ != call::none && handle() >= 0)
        ::shutdown(handle(), SHUT_RDWR);
    call_ = call::none;
    wants_ = readiness::none;
    connection_.reset();
    ++incarnation_;
}

void link::close() noexcept
{
    if (now_ == state::idle)
        return;
    drop();
    addresses_.clear();
    now_ = state::closing;
}

const core::address& link::target() const noexcept
{
    return settings_.servers[server_].where;
}

bool link::wants_open() const noexcept
{
    return now_ != state::idle && now_ != state::closing;
}

void link::open(std::span<const std::string> addresses, time_point now)
{
    if (now_ != state::wanted)
        return;
    // The library compares the name in the certificate with the host that it is given.
    const bool needs_name = settings_.encrypts && !settings_.accepts_any_certificate;
    const std::vector<std::string> ordered = order_.begin(server_, addresses);
    addresses_.assign(ordered.rbegin(), ordered.rend());
    if (needs_name && target().path.empty())
        addresses_.assign(1, target().host);
    now_ = state::connecting;
    connect_by_ = now + settings_.connect_timeout;
    follow(connect(now), now);
}

// To the next address, or by the unix socket. Returns what it waits for.
int link::connect(time_point now)
{
    connection_.reset(::mysql_init(nullptr));
    ++incarnation_;
    if (!connection_ || !set_options(now))
        return lose(0, "out of memory", now), 0;
    const core::address& where = target();
    address_.clear();
    if (!addresses_.empty()) {
        address_ = std::move(addresses_.back());
        addresses_.pop_back();
    }
    const bool local = !where.path.empty();
    call_ = call::connect;
    return ::mysql_real_connect_start(&connected_, connection_.get(),
        local ? nullptr : address_.c_str(), settings_.user.c_str(), settings_.password.c_str(),
        settings_.database.empty() ? nullptr : settings_.database.c_str(), where.port,
        local ? where.path.c_str() : nullptr, CLIENT_MULTI_STATEMENTS);
}

bool link::set_options(time_point now)
{
    MYSQL* const to = connection_.get();
    bool done = true;
    const auto set = [&](mysql_option what, const void* value) {
        done = ::mysql_options(to, what, value) == 0 && done;
    };
    const auto set_text = [&](mysql_option what, const std::string& value) {
        if (!value.empty())
            set(what, value.c_str());
    };
    const unsigned no = 0;
    const unsigned protocol = target().path.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
    const my_bool yes = 1, off = 0;
    set(MYSQL_OPT_NONBLOCK, nullptr);
    set(MYSQL_SET_CHARSET_NAME, "latin1");
    set(MYSQL_OPT_PROTOCOL, &protocol);
    set(MYSQL_OPT_LOCAL_INFILE, &no); // a server may not ask for files
    set(MYSQL_OPT_MAX_ALLOWED_PACKET, &longest_answer);
    const bool in_clear = !settings_.encrypts && target().path.empty();
    set(MARIADB_OPT_RESTRICTED_AUTH, in_clear ? safe_ways_to_log_in : ways_to_log_in_over_tls);
    if (in_clear) // not with the server's usual one: it tells which one the user has
        set(MYSQL_DEFAULT_AUTH, first_way_to_log_in);
    done = ::mysql_options4(to, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name",
               settings_.client_name.c_str()) == 0 &&
           done;
    if (!settings_.encrypts || !target().path.empty()) {
        // From version 3.4 on, the library insists on TLS unless it is told otherwise.
        set(MYSQL_OPT_SSL_ENFORCE, &off);
        set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &off);
        return done;
    }
    set(MYSQL_OPT_SSL_ENFORCE, &yes);
    const auto left = std::chrono::ceil<std::chrono::seconds>(connect_by_ - now).count();
    const auto limit = static_cast<unsigned>(std::max<std::int64_t>(left, 1)); // 0 is none
    if (bounds_handshake())
        set(MYSQL_OPT_CONNECT_TIMEOUT, &limit);
    set(MYSQL_OPT_TLS_VERSION, tls_versions);
    set_text(MYSQL_OPT_SSL_CA, settings_.ca_file);
    set_text(MYSQL_OPT_SSL_CERT, settings_.certificate_file);
    set_text(MYSQL_OPT_SSL_KEY, settings_.key_file);
    const my_bool verifies = settings_.accepts_any_certificate ? 0 : 1;
    set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verifies);
    return done;
}

void link::closed(error_code why, time_point now)
{
    if (now_ == state::closing) {
        now_ = state::idle;
        return;
    }
    if (now_ == state::idle)
        return;
    lose(0, why.message(), now);
    now_ = state::idle; // the I/O layer knows it
}

int link::handle() const noexcept
{
    return connection_ ? static_cast<int>(::mysql_get_socket(connection_.get())) : -1;
}

void link::ready(readiness what, time_point now)
{
    if (call_ == call::none) {
        if (now_ == state::connected && includes(what, readiness::readable))
            notice_end(now);
        return;
    }
    const int events = (includes(what, readiness::readable) ? MYSQL_WAIT_READ : 0) |
                       (includes(what, readiness::writable) ? MYSQL_WAIT_WRITE : 0);
    follow(go_on(events), now);
    for (int reads = 1; reads < most_reads && call_ != call::none &&
                        includes(wants_, readiness::readable) && is_readable(handle());
         ++reads)
        follow(go_on(MYSQL_WAIT_READ), now);
}

// Nothing is under way. The server may have ended the connection, with or without a last word.
// Over TLS there may be messages that concern the library alone: it reads them with the next
// answer.
void link::notice_end(time_point now)
{
    char byte = 0;
    const auto peeked = ::recv(handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (peeked > 0 && settings_.encrypts)
        wants_ = readiness::none;
    else
        lose(0, "the server has ended the connection", now);
}

// Goes on with the call that has not ended.
int link::go_on(int events)
{
    MYSQL* const on = connection_.get();
    switch (call_) {
    case call::connect:
        return ::mysql_real_connect_cont(&connected_, on, events);
    case call::query:
        return ::mysql_real_query_cont(&returned_, on, events);
    case call::store_result:
        return ::mysql_store_result_cont(&result_, on, events);
    case call::next_result:
        return ::mysql_next_result_cont(&returned_, on, events);
    case call::none:
        break;
    }
    return 0;
}

// A call waits for these events; 0: it has ended.
void link::follow(int waits_for, time_point now)
{
    while (waits_for == 0 && call_ != call::none)
        waits_for = end_call(now);
    if (call_ == call::none)
        return;
    // While it connects, the library may replace its socket.
    if (call_ == call::connect)
        ++incarnation_;
    wants_ = readiness::none;
    if ((waits_for & MYSQL_WAIT_READ) != 0)
        wants_ = wants_ | readiness::readable;
    if ((waits_for & MYSQL_WAIT_WRITE) != 0)
        wants_ = wants_ | readiness::writable;
}

// The call under way has ended. Begins the next one, if there is one: returns what that waits for.
int link::end_call(time_point now)
{
    MYSQL* const on = connection_.get();
    switch (std::exchange(call_, call::none)) {
    case call::connect:
        return end_connect(now);
    case call::query:
        if (returned_ != 0)
            break;
        call_ = call::store_result;
        return ::mysql_store_result_start(&result_, on);
    case call::store_result:
        if (result_ == nullptr && ::mysql_errno(on) != 0)
            break;
        take_result();
        if (now_ != state::connected || ::mysql_more_results(on) == 0)
            return end_query(now);
        call_ = call::next_result;
        return ::mysql_next_result_start(&returned_, on);
    case call::next_result:
        if (returned_ > 0)
            break;
        call_ = call::store_result;
        return ::mysql_store_result_start(&result_, on);
    case call::none:
        return 0;
    }
    fail_query(now);
    return 0;
}

int link::end_connect(time_point now)
{
    if (connected_ == nullptr) {
        const unsigned number = ::mysql_errno(connection_.get());
        const bool elsewhere =
            number == cannot_connect || number == cannot_connect_there || number == no_such_host;
        if (elsewhere && !addresses_.empty())
            return connect(now);
        lose(now);
        return 0;
    }
    ++incarnation_;
    now_ = state::connected;
    wants_ = readiness::readable;
    order_.worked(server_);
    owner_.on_connected(now);
    return 0;
}

int link::end_query(time_point now)
{
    if (now_ != state::connected)
        return 0;
    wants_ = readiness::readable;
    query_.clear();
    owner_.on_query_end(now);
    return 0;
}

void link::take_result()
{
    const std::unique_ptr<MYSQL_RES, release> found(std::exchange(result_, nullptr));
    if (found)
        owner_.on_result(table(found.get()));
}

// An error of the server ends the query. An error of the library ends the connection.
void link::fail_query(time_point now)
{
    const unsigned number = ::mysql_errno(connection_.get());
    if (number == 0 || is_of_library(number))
        return lose(now);
    owner_.on_error(number, ::mysql_error(connection_.get()));
    end_query(now);
}

bool link::has_output() const noexcept
{
    return now_ == state::connected && call_ == call::none && owner_.has_query();
}

void link::flush(time_point now)
{
    while (has_output()) {
        auto next = owner_.next_query(now);
        if (!next)
            return;
        query_ = std::move(*next);
        call_ = call::query;
        follow(::mysql_real_query_start(&returned_, connection_.get(), query_.data(),
                   static_cast<unsigned long>(query_.size())),
            now);
    }
}

void link::lose(time_point now)
{
    const unsigned number = ::mysql_errno(connection_.get());
    const std::string text = ::mysql_error(connection_.get());
    lose(number, text, now);
}

void link::lose(unsigned number, const std::string& text, time_point now)
{
    close();
    owner_.on_lost(number, text, now);
}

} // namespace holdfast::mysql_store
