#include "verification/simulation/network.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

// How long a kernel retransmits before it gives up the connection. The library sets the same limit
// on its real connections.
constexpr nanoseconds patience_of_tcp = std::chrono::seconds(5);

} // namespace

std::size_t network::add(listener& server)
{
    listeners_.push_back(&server);
    return listeners_.size() - 1;
}

std::size_t network::add(caller& client)
{
    callers_.push_back(&client);
    routes_.resize(callers_.size() * listeners_.size());
    return callers_.size() - 1;
}

route& network::between(std::size_t client, std::size_t server)
{
    return routes_[client * listeners_.size() + server];
}

stream_id network::open(std::size_t client, std::size_t server)
{
    streams_.push_back(std::make_unique<stream>());
    const auto id = static_cast<stream_id>(streams_.size());
    at(id).client = client;
    at(id).server = server;
    ++counts_.streams;
    push(id, true, kind::open, {});
    return id;
}

std::size_t network::send(stream_id id, std::string_view bytes)
{
    stream& s = at(id);
    const std::size_t n = std::min(bytes.size(), buffer_ - std::min(buffer_, s.unread));
    s.full = n < bytes.size();
    s.unread += n;
    if (n > 0)
        push_bytes(id, true, bytes.substr(0, n));
    return n;
}

void network::close(stream_id id, bool late)
{
    stream& s = at(id);
    s.client_open = false;
    s.back.packets.clear();
    if (late && !s.out.packets.empty())
        ++counts_.late;
    if (!late)
        s.out.packets.clear();
    push(id, true, kind::close, {});
}

void network::cut(stream_id id)
{
    stream& s = at(id);
    ++counts_.cut;
    if (s.server_open && !s.out.packets.empty() && listeners_[s.server]->up() &&
        !listeners_[s.server]->frozen() && dice_.chance(0.5)) {
        std::string& first = s.out.packets.front().bytes; // a part of it still arrives
        first.resize(first.empty() ? 0 : dice_.below(first.size() + 1));
        listeners_[s.server]->on_bytes(s.session, first, replies_);
        replies_.clear();
    }
    leave(s);
    s.out.packets.clear();
    s.back.packets.clear();
    push(id, false, kind::reset, {});
}

void network::server_died(std::size_t server, bool host_too)
{
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        stream& s = *streams_[i];
        if (s.server != server || !s.server_open)
            continue;
        leave(s);
        s.out.packets.clear();
        if (!host_too)
            push(static_cast<stream_id>(i + 1), false, kind::reset, {});
    }
}

void network::push_to_client(std::size_t server, std::uint64_t session, std::string_view bytes)
{
    for (std::size_t i = streams_.size(); i > 0; --i) {
        const stream& s = *streams_[i - 1];
        if (s.server != server || !s.server_open || s.session.id != session)
            continue;
        if (lost_pushes_ > 0 && dice_.chance(lost_pushes_)) {
            ++counts_.pushes_lost;
            return;
        }
        push_bytes(static_cast<stream_id>(i), false, bytes);
        if (repeated_pushes_ > 0 && dice_.chance(repeated_pushes_)) {
            ++counts_.pushes_repeated;
            push_bytes(static_cast<stream_id>(i), false, bytes);
        }
        return;
    }
}

// Ends the server's side of a stream, and with it the session.
void network::leave(stream& s)
{
    s.server_open = false;
    s.session = {};
    s.arrived.clear();
}

void network::retry()
{
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        stream& s = *streams_[i];
        for (const bool out : {true, false}) {
            direction& d = out ? s.out : s.back;
            if (d.packets.empty() || d.packets.front().arrives > time_.now())
                continue;
            d.stuck_since = nanoseconds(-1);
            plan(static_cast<stream_id>(i + 1), out, time_.now() + delay(s));
        }
    }
}

std::vector<stream_id> network::open_streams() const
{
    std::vector<stream_id> open;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (streams_[i]->client_open)
            open.push_back(static_cast<stream_id>(i + 1));
    }
    return open;
}

nanoseconds network::delay(const stream& s)
{
    const route& r = between(s.client, s.server);
    if (r.slow > 0 && dice_.chance(r.slow))
        return dice_.between(r.longest, r.slowest);
    return dice_.between(r.shortest, r.longest);
}

void network::push_bytes(stream_id id, bool out, std::string_view bytes)
{
    if (!between(at(id).client, at(id).server).trickles)
        return push(id, out, kind::bytes, std::string(bytes));
    while (!bytes.empty()) {
        const std::size_t n = std::min<std::size_t>(bytes.size(), 1 + dice_.below(9));
        push(id, out, kind::bytes, std::string(bytes.substr(0, n)));
        bytes.remove_prefix(n);
    }
}

void network::push(stream_id id, bool out, kind is, std::string bytes)
{
    stream& s = at(id);
    direction& d = out ? s.out : s.back;
    // A server's reply leaves when the server has done the work for it.
    const bool said_by_server = !out && is == kind::bytes;
    const nanoseconds leaves =
        said_by_server ? listeners_[s.server]->thread().done_at() : time_.now();
    d.latest = std::max(d.latest, leaves + delay(s));
    d.packets.push_back({is, d.latest, std::move(bytes)});
    plan(id, out, d.latest);
}

void network::plan(stream_id id, bool out, nanoseconds when)
{
    struct arrival {
        network* self;
        stream_id id;
        bool out;
        void operator()() const { self->deliver(id, out); }
    };
    time_.at(when, arrival{this, id, out});
}

bool network::passable(const stream& s, bool out) const
{
    const route& r = routes_[s.client * listeners_.size() + s.server];
    if (out)
        return !r.lost_out && !(s.server_open && listeners_[s.server]->frozen());
    return !r.lost_back && !callers_[s.client]->frozen();
}

void network::deliver(stream_id id, bool out)
{
    stream& s = at(id);
    direction& d = out ? s.out : s.back;
    while (!d.packets.empty() && d.packets.front().arrives <= time_.now()) {
        if (!passable(s, out)) {
            const route& r = between(s.client, s.server);
            if (d.stuck_since < nanoseconds(0) && (r.lost_out || r.lost_back)) {
                d.stuck_since = time_.now();
                time_.after(patience_of_tcp,
                    [this, id, since = d.stuck_since] { give_up_if_stuck(id, since); });
            }
            return;
        }
        packet p = std::move(d.packets.front());
        d.packets.pop_front();
        out ? arrive_at_server(id, std::move(p)) : arrive_at_client(id, std::move(p));
    }
}

void network::give_up_if_stuck(stream_id id, nanoseconds since)
{
    stream& s = at(id);
    if (!s.client_open || callers_[s.client]->frozen() ||
        (s.out.stuck_since != since && s.back.stuck_since != since))
        return;
    s.client_open = false;
    s.given_up = true;
    s.out.packets.clear();
    s.back.packets.clear();
    ++counts_.timed_out;
    callers_[s.client]->on_broken(id, breakage::timed_out);
}

void network::arrive_at_server(stream_id id, packet p)
{
    stream& s = at(id);
    listener& server = *listeners_[s.server];
    switch (p.is) {
    case kind::open:
        s.server_open = server.up();
        s.session = {};
        return push(id, false, s.server_open ? kind::open : kind::reset, {});
    case kind::bytes:
        if (!s.server_open) // the server no longer knows this stream
            return push(id, false, kind::reset, {});
        s.arrived += p.bytes;
        if (s.arrived.size() == p.bytes.size()) // else the server's queue has it already
            server.thread().run([this, id] { serve(id); });
        return;
    case kind::close:
        s.ending = !s.arrived.empty();
        return s.ending ? void() : leave(s);
    case kind::reset:
        return leave(s);
    }
}

// A server reads the bytes that have arrived, or a part of them. Then the next connection has its
// turn.
void network::serve(stream_id id)
{
    stream& s = at(id);
    listener& server = *listeners_[s.server];
    if (!s.server_open || s.arrived.empty())
        return;
    const std::size_t n = std::min(s.arrived.size(), server.reads_at_once());
    server.on_bytes(s.session, std::string_view(s.arrived).substr(0, n), replies_);
    s.arrived.erase(0, n);
    if (!replies_.empty())
        push_bytes(id, false, std::exchange(replies_, {}));
    make_room(id, n);
    if (s.session.closed) {
        leave(s);
        push(id, false, kind::reset, {});
    } else if (s.arrived.empty()) {
        if (s.ending)
            leave(s);
    } else {
        server.thread().run([this, id] { serve(id); });
    }
}

void network::make_room(stream_id id, std::size_t bytes)
{
    stream& s = at(id);
    s.unread -= std::min(s.unread, bytes);
    if (!s.full || s.unread > buffer_ / 2)
        return;
    s.full = false;
    time_.after(delay(s), [this, id] {
        if (at(id).client_open)
            callers_[at(id).client]->on_writable(id);
    });
}

void network::arrive_at_client(stream_id id, packet p)
{
    stream& s = at(id);
    if (!s.client_open) {
        if (s.given_up && s.server_open) // the client no longer knows this stream
            push(id, true, kind::reset, {});
        return;
    }
    caller& client = *callers_[s.client];
    switch (p.is) {
    case kind::open:
        return client.on_open(id);
    case kind::bytes:
        return client.on_bytes(id, p.bytes);
    case kind::close:
    case kind::reset: {
        s.client_open = false;
        s.out.packets.clear();
        s.back.packets.clear();
        const bool refused = !listeners_[s.server]->up();
        ++(refused ? counts_.refused : counts_.resets);
        return client.on_broken(id, refused ? breakage::refused : breakage::reset);
    }
    }
}

} // namespace holdfast::simulation
