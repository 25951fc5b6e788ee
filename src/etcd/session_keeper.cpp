#include "etcd/session_keeper.hpp"

#include "etcd/wire/messages.hpp"

#include <algorithm>

namespace holdfast::etcd_store {

using core::time_point;

std::size_t session_keeper::for_ttl(core::duration ttl)
{
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(ttl).count();
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (all_[i].lease.asked_seconds() == seconds)
            return i;
    }
    all_.push_back({session(seconds), {}});
    return all_.size() - 1;
}

// 0 if the connection can make no more calls: another one is needed then.
wire::stream_id session_keeper::call(
    std::string_view path, const std::string& message, bool goes_on, time_point now)
{
    const wire::stream_id made = members_.current().begin(path, message, goes_on, goes_on);
    if (made == 0)
        members_.fail(errc::unreachable, "the connection can make no more calls", now);
    return made;
}

void session_keeper::begin(std::size_t i, time_point now)
{
    session& s = all_[i].lease;
    if (s.is_alive() || s.is_asking() || !members_.is_up())
        return;
    const wire::stream_id made =
        call(wire::lease_grant_path, wire::lease_grant(s.asked_seconds()), false, now);
    if (made == 0)
        return;
    calls_.add(made, {.what = request::kind::grant_lease, .session = i, .sent = now});
    s.asks(made);
}

void session_keeper::keep_alive(std::size_t i, time_point now)
{
    session& s = all_[i].lease;
    if (!s.is_alive() || !members_.is_up())
        return;
    const std::string message = wire::keep_alive(s.lease());
    wire::stream_id stream = s.kept().call();
    if (stream != 0)
        members_.current().calls().send(stream, message);
    else if (stream = call(wire::keep_alive_path, message, true, now); stream == 0)
        return;
    s.kept().sent(stream, now);
}

void session_keeper::give_back(std::size_t i, time_point now)
{
    const std::string message = wire::lease_revoke(all_[i].lease.lease());
    lost(i);
    const wire::stream_id made = call(wire::lease_revoke_path, message, false, now);
    if (made != 0)
        calls_.add(made, {.what = request::kind::revoke_lease, .session = i, .sent = now});
}

void session_keeper::connected(time_point now)
{
    for (std::size_t i = 0; i < all_.size(); ++i)
        keep_alive(i, now);
}

void session_keeper::disconnected() noexcept
{
    for (entry& each : all_)
        each.lease.disconnected();
}

void session_keeper::serve(bool unused, time_point now)
{
    for (std::size_t i = 0; i < all_.size() && members_.is_up(); ++i) {
        session& s = all_[i].lease;
        if (!s.is_alive())
            continue;
        if (s.users().idle_at() <= now || (unused && !s.users().any()))
            give_back(i, now);
        else if (s.next_at() <= now)
            keep_alive(i, now);
    }
}

time_point session_keeper::next_at() const noexcept
{
    time_point next = core::never;
    for (const entry& each : all_)
        next = std::min(next, each.lease.next_at());
    return next;
}

time_point session_keeper::waits_since() const noexcept
{
    time_point since = core::never;
    for (const entry& each : all_)
        since = std::min(since, each.lease.kept().waits_since());
    return since;
}

bool session_keeper::granted(const request& r)
{
    const auto reply = wire::read_lease(*r.answer);
    if (!reply || reply->id == 0 || reply->ttl_seconds <= 0)
        return false;
    all_[r.session].lease.granted(reply->id, reply->ttl_seconds, r.sent);
    return true;
}

std::optional<std::size_t> session_keeper::kept_by(wire::stream_id stream) const noexcept
{
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (all_[i].lease.kept().call() == stream)
            return i;
    }
    return std::nullopt;
}

std::vector<core::claim_id> session_keeper::take_fulfilled(std::size_t i, time_point sent)
{
    std::vector<core::claim_id> fulfilled;
    std::erase_if(all_[i].wishes, [&](const wish& w) {
        if (w.from <= sent)
            fulfilled.push_back(w.claim);
        return w.from <= sent;
    });
    return fulfilled;
}

void session_keeper::lost(std::size_t i)
{
    session& s = all_[i].lease;
    if (s.kept().call() != 0 && members_.is_up())
        members_.current().calls().cancel(s.kept().call());
    s.lost();
    all_[i].wishes.clear();
}

core::duration session_keeper::shortest_ttl() const noexcept
{
    core::duration shortest = std::chrono::hours(1);
    for (const entry& each : all_) {
        if (each.lease.users().any())
            shortest = std::min<core::duration>(
                shortest, std::chrono::seconds(each.lease.asked_seconds()));
    }
    return shortest;
}

bool session_keeper::has_unused() const noexcept
{
    return std::any_of(all_.begin(), all_.end(),
        [](const entry& each) { return each.lease.is_alive() && !each.lease.users().any(); });
}

std::size_t session_keeper::left() const noexcept
{
    const auto unused = std::count_if(all_.begin(), all_.end(),
        [](const entry& each) { return each.lease.is_alive() && !each.lease.users().any(); });
    return static_cast<std::size_t>(unused) + calls_.count(request::kind::revoke_lease);
}

} // namespace holdfast::etcd_store
