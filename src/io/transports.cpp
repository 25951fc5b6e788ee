#include "io/transports.hpp"

#include "io/descriptor_link.hpp"
#include "io/link.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>

namespace holdfast::io {

namespace {

// A node that keeps sending must not delay the handling of timeouts for longer than this.
constexpr core::duration longest_lag = std::chrono::seconds(1);

} // namespace

transports::transports(
    transport_owner& owner, core::backend_core& served, const asio::any_io_executor& executor)
    : guarded_(owner),
      owner_(owner),
      served_(served),
      executor_(executor)
{
    serve_new();
    for (core::descriptor* const each : served.descriptors())
        all_.push_back(std::make_unique<descriptor_link>(owner, *each, executor));
}

void transports::serve_new()
{
    const auto connections = served_.connections();
    for (; connections_ < connections.size(); ++connections_)
        all_.push_back(std::make_unique<link>(owner_, *connections[connections_], executor_));
}

bool transports::follow(core::time_point now)
{
    serve_new();
    bool changed = false;
    for (const auto& each : all_)
        changed = each->follow(now) || changed;
    return changed;
}

void transports::flush(core::time_point now)
{
    for (const auto& each : all_)
        each->flush(now);
}

bool transports::has_output() const noexcept
{
    return std::any_of(all_.begin(), all_.end(), [](const auto& t) { return t->has_output(); });
}

core::time_point transports::heard_until(core::time_point now)
{
    core::time_point heard = now;
    for (const auto& each : all_)
        heard = std::min(heard, each->read_until(now));
    if (heard < now && !confirming_) {
        for (const auto& each : all_)
            each->note_empty(now);
        confirm_arrivals();
    }
    return std::max(heard, now - longest_lag);
}

void transports::confirm_arrivals()
{
    confirming_ = true;
    auto confirm = guarded_([this](error_code) {
        confirming_ = false;
        for (const auto& each : all_)
            each->confirm_empty();
    });
    asio::post(executor_, asio::append(std::move(confirm), error_code()));
}

void transports::leave_sockets() noexcept
{
    for (const auto& each : all_)
        each->leave_socket();
}

void transports::clear() noexcept
{
    for (const auto& each : all_)
        each->close();
    all_.clear();
}

} // namespace holdfast::io
