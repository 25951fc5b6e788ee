#pragma once

#include "core/connection.hpp"
#include "core/output_buffer.hpp"
#include "redis/node/connection_schedule.hpp"
#include "redis/node/greeting.hpp"
#include "redis/node/inbox.hpp"
#include "redis/node/node_address.hpp"
#include "redis/node/node_settings.hpp"
#include "redis/node/reply.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

// The user of a connection.
class connection_owner {
public:
    // The greeting is over. A non-empty text refuses the node.
    virtual std::string admit() = 0;
    virtual void on_ready(core::time_point now) = 0;
    virtual void on_reply(reply answer, core::time_point now) = 0;
    virtual void on_push(reply push, core::time_point now) = 0;
    // The stream has taken the first `n` bytes of what was sent and not yet taken.
    virtual void on_written(std::size_t n, core::time_point now) = 0;
    // The connection is given up, or could not be opened. What was sent is forgotten.
    virtual void on_lost(failure why, core::time_point now) = 0;

protected:
    ~connection_owner() = default;
};

// The connection to one node, which is opened and greeted again whenever it breaks. Gives the
// replies and pushes that arrive while it is ready to its owner.
class node_connection final : public core::connection, private node_address_owner {
public:
    // `wakes` is told of its deadlines.
    node_connection(node_settings settings, connection_owner& owner, core::wake_time& wakes,
        std::uint64_t jitter_seed);
    node_connection(const node_connection&) = delete;
    node_connection& operator=(const node_connection&) = delete;

    const node_settings& settings() const noexcept { return settings_; }
    const node_address& address() const noexcept { return address_; }
    const connection_schedule& schedule() const noexcept { return schedule_; }
    greeting& greeted() noexcept { return greeting_; }
    const greeting& greeted() const noexcept { return greeting_; }

    // Precondition: it is ready.
    void send(std::string_view bytes) { output_.append(bytes); }

    void wake(core::time_point now);
    // closed() will follow.
    void give_up(failure why, core::time_point now);
    // Closes it for good. False if that was done before.
    bool shut(core::time_point now);

    // In a cluster: the address of the node from now on. Precondition: is_parked().
    void aim(core::address where, core::time_point now);
    // Closes it until the next aim().
    void park(core::time_point now);
    bool is_parked() const noexcept
    {
        return !address_.is_aimed() &&
               (schedule_.now() == connection_schedule::phase::idle ||
                   schedule_.now() == connection_schedule::phase::searching);
    }

    // core::connection
    const core::address& target() const noexcept override { return address_.where(); }
    bool wants_open() const noexcept override { return schedule_.wants_open(); }
    core::time_point opening_ends() const noexcept override { return schedule_.deadline(); }
    void opened(core::time_point now) override;
    void closed(error_code why, core::time_point now) override;
    std::span<char> read_space() override { return inbox_.space(); }
    void received(std::size_t n, core::time_point now) override;
    std::size_t unsent() const noexcept override { return output_.size(); }
    std::string_view output() const noexcept override { return output_.bytes(); }
    void written(std::size_t n, core::time_point now) override;

private:
    // node_address_owner
    void on_no_address(failure why, core::time_point now) override { give_up(std::move(why), now); }

    void on_greeting_reply(reply answer, core::time_point now);

    const node_settings settings_;
    connection_owner& owner_;
    connection_schedule schedule_;
    node_address address_;
    greeting greeting_;
    inbox inbox_;
    core::output_buffer output_;
};

} // namespace holdfast::redis
