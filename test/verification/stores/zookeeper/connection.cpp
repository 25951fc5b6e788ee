#include "verification/stores/zookeeper/connection.hpp"

#include "verification/stores/zookeeper/server.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::zookeeper_simulation {

namespace wire = zookeeper_store::wire;

namespace {

bool is_read(wire::operation what)
{
    return what == wire::operation::exists || what == wire::operation::get_data ||
           what == wire::operation::get_children || what == wire::operation::get_children2;
}

std::int32_t count_of_ms(core::duration d)
{
    return static_cast<std::int32_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

} // namespace

std::string password_of(std::int64_t session)
{
    wire::jute_writer out;
    out.int64(session ^ 0x0123456789abcdef);
    out.int64(~session);
    return out.encoded();
}

void connection::put(const std::string& record)
{
    if (on_output)
        on_output(wire::framed(record));
}

void connection::close()
{
    if (now_ == stage::closed)
        return;
    const auto kept = shared_from_this();
    now_ = stage::closed;
    server_.forget(*this);
    if (on_close)
        on_close();
}

void connection::receive(std::string_view bytes)
{
    in_.append(bytes);
    while (now_ != stage::closed) {
        const auto record = in_.next();
        if (!record)
            break;
        if (now_ == stage::is_new)
            connect(*record);
        else
            server_.work([self = shared_from_this(), all = std::string(*record)] {
                if (self->now_ != stage::closed)
                    self->take(all);
            });
    }
    if (in_.is_broken())
        close();
}

void connection::connect(std::string_view record)
{
    const auto r = wire::read_connect_request(record);
    if (!r || r->last_zxid > server_.data().last_zxid())
        return close();
    timeout_ms_ = count_of_ms(server_.session_timeout(std::chrono::milliseconds(r->timeout_ms)));
    now_ = stage::connects;
    if (r->session == 0)
        return server_.begin_session(*this, timeout_ms_);
    server_.close_older(r->session); // even if it is not proved
    if (r->password != password_of(r->session)) {
        session_ = r->session;
        return begin(false);
    }
    server_.revalidate(*this, r->session, timeout_ms_);
}

void connection::begin(bool valid)
{
    if (now_ != stage::connects)
        return;
    if (!valid && server_.settings().replaces_sessions)
        return server_.begin_session(*this, timeout_ms_);
    now_ = stage::serves;
    put(wire::encode(valid ? wire::connect_reply{.timeout_ms = timeout_ms_,
                                 .session = session_,
                                 .password = password_of(session_)}
                           : wire::connect_reply{.password = std::string(16, '\0')}));
    if (!valid)
        return close();
    receive({}); // what was sent at once
}

void connection::take(std::string_view record)
{
    const auto r = wire::read_request(record);
    if (!r)
        return close();
    server_.touch(session_, timeout_ms_);
    waiting_.push_back(*r);
    if (!is_read(r->what) && r->what != wire::operation::ping &&
        r->what != wire::operation::authenticate)
        server_.forward(*r, *this);
    answer_reads();
}

// Those that nothing is before which waits for the leader.
void connection::answer_reads()
{
    while (now_ == stage::serves && !waiting_.empty()) {
        const wire::request& r = waiting_.front();
        if (r.what == wire::operation::ping) {
            put(wire::encode(wire::reply_header{
                .number = wire::number::ping, .zxid = server_.data().last_zxid()}));
        } else if (r.what == wire::operation::authenticate) {
            put(wire::encode(wire::reply_header{.number = r.number}));
        } else if (is_read(r.what)) {
            const std::int32_t refusal = server_.refusal_of_read(session_);
            if (refusal == wire::code::session_moved)
                return close();
            const auto found = refusal == wire::code::ok
                                   ? server_.data().read(r)
                                   : test::zookeeper_tree::answer{.error = refusal};
            if (r.watch && refusal == wire::code::ok)
                watch(r, found.error);
            reply(r, found.error, found.body);
        } else {
            return;
        }
        waiting_.pop_front();
    }
}

void connection::watch(const wire::request& r, std::int32_t error)
{
    if (r.what == wire::operation::get_children || r.what == wire::operation::get_children2) {
        if (error == wire::code::ok)
            watched_children_.insert(r.path);
    } else if (error == wire::code::ok || r.what == wire::operation::exists) {
        watched_.insert(r.path);
    }
}

void connection::reply(const wire::request& to, std::int32_t error, const wire::reply_body& body)
{
    const wire::reply_header header{
        .number = to.number, .zxid = server_.data().last_zxid(), .error = error};
    put(error == wire::code::ok ? wire::encode(header, to.what, body) : wire::encode(header));
}

void connection::committed(const test::zookeeper_change& c, const test::zookeeper_tree::answer& a)
{
    if (now_ == stage::connects)
        return begin(true);
    if (now_ != stage::serves || waiting_.empty())
        return;
    if (a.error == wire::code::session_moved)
        return close();
    const wire::request r = std::move(waiting_.front());
    waiting_.pop_front();
    reply(r, a.error, a.body);
    if (c.what == wire::operation::close_session)
        return close();
    answer_reads();
}

void connection::synced()
{
    if (now_ != stage::serves || waiting_.empty())
        return;
    const wire::request r = std::move(waiting_.front());
    waiting_.pop_front();
    reply(r, wire::code::ok, {.path = r.path});
    answer_reads();
}

// Watches are told once. What happened to the node itself comes first, and is told once for both
// kinds.
void connection::tell(const test::zookeeper_tree::event& e)
{
    bool told = false;
    if (e.change == wire::change::children) {
        told = watched_children_.erase(e.path) != 0;
    } else {
        told = watched_.erase(e.path) != 0;
        if (e.change == wire::change::deleted)
            told = watched_children_.erase(e.path) != 0 || told;
    }
    constexpr std::int32_t connected = 3;
    if (told && now_ == stage::serves)
        put(wire::encode(
            wire::watch_event{.change = e.change, .state = connected, .path = e.path}));
}

} // namespace holdfast::zookeeper_simulation
