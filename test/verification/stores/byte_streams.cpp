#include "verification/stores/byte_streams.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace holdfast::store_simulation {

void byte_streams::serve(time_point now)
{
    streams_.resize(owner_.connections().size());
    for (std::size_t i = 0; i < streams_.size(); ++i)
        follow(i, now);
}

void byte_streams::lose_connections()
{
    owner_.runs().deliver([this] {
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            if (streams_[i].link) {
                streams_[i].link->leave();
                broken(i);
            }
        }
        owner_.turn();
    });
}

void byte_streams::cut_off()
{
    for (stream& each : streams_) {
        if (each.link)
            each.link->leave();
        each.link.reset();
    }
}

void byte_streams::follow(std::size_t i, time_point now)
{
    core::connection& c = connection(i);
    stream& s = streams_[i];
    if (!s.link) {
        if (c.wants_open() && s.opening == 0)
            open_later(i);
        else if (!c.wants_open() && std::exchange(s.opening, 0) != 0)
            c.closed(boost::asio::error::operation_aborted, now);
        return;
    }
    if (!c.wants_open()) {
        s.link->leave();
        s.link.reset();
        return c.closed(boost::asio::error::operation_aborted, now);
    }
    c.prepare_output();
    if (const std::string_view out = c.output(); !out.empty()) {
        s.link->send(std::string(out));
        c.written(out.size(), now);
    }
}

void byte_streams::open_later(std::size_t i)
{
    const std::uint64_t number = streams_[i].opening = ++openings_;
    const bool refused = world_.random.chance(owner_.refusal());
    const duration length = world_.random.of_any_size(50us, owner_.slowest_opening());
    const time_point from = refused ? world_.now() : std::max(world_.now(), owner_.opens_from(i));
    world_.at(from + length, [this, i, number, refused] {
        owner_.runs().deliver([this, i, number, refused] {
            if (streams_[i].opening != number)
                return; // given up
            streams_[i].opening = 0;
            if (refused)
                connection(i).closed(boost::asio::error::connection_refused, owner_.runs().now());
            else
                opened(i);
            owner_.turn();
        });
    });
}

void byte_streams::opened(std::size_t i)
{
    const auto link = owner_.open(i);
    link->on_bytes = [this, i, of = link.get()](const std::string& bytes) {
        deliver(i, of, [this, i, bytes] { received(i, bytes); });
    };
    link->on_break = [this, i, of = link.get()] {
        deliver(i, of, [this, i] { broken(i); });
    };
    streams_[i].link = link;
    connection(i).opened(owner_.runs().now());
}

void byte_streams::deliver(std::size_t i, const byte_link* of, world::event what)
{
    owner_.runs().deliver([this, i, of, what = std::move(what)] {
        if (streams_[i].link.get() != of)
            return;
        what();
        owner_.turn();
    });
}

void byte_streams::received(std::size_t i, std::string_view bytes)
{
    core::connection& to = connection(i);
    while (!bytes.empty() && to.wants_open()) {
        const std::span<char> space = to.read_space();
        const std::size_t n = bytes.copy(space.data(), space.size());
        bytes.remove_prefix(n);
        to.received(n, owner_.runs().now());
    }
    owner_.heard(i);
}

void byte_streams::broken(std::size_t i)
{
    streams_[i].link.reset();
    connection(i).closed(boost::asio::error::connection_reset, owner_.runs().now());
}

} // namespace holdfast::store_simulation
