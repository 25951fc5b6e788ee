#pragma once

#include "recipes/candidacy.hpp"

#include <holdfast/detail/handler.hpp>
#include <holdfast/election.hpp>
#include <holdfast/lock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::io {

class campaigner;

// What the copies of an election share.
class election_state {
public:
    election_state(lock l, election_options o) : office(std::move(l)), options(std::move(o)) {}

    void add(const std::shared_ptr<campaigner>& run);
    void resign();

    const lock office;
    const election_options options;

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<campaigner>> runs_;
};

// One election::run(). Everything but the constructor runs on its strand.
class campaigner : public std::enable_shared_from_this<campaigner> {
public:
    using body = std::function<asio::awaitable<void>(lease&)>;
    using handler = detail::any_handler<void(std::exception_ptr)>;

    campaigner(std::shared_ptr<election_state> state, const asio::any_io_executor& where, body work,
        handler&& told, std::uint64_t seed);

    void begin();
    void cancel();
    void resign();

    asio::strand<asio::any_io_executor> strand() const noexcept { return strand_; }

private:
    // A campaign under way. Its handler owns it.
    struct asking {
        asio::cancellation_signal stop;
        bool dropped = false;
    };
    // Gets the end of the body. It has the slot of `stop_` and no associated executor, so the body
    // is cancelled inside the call that emits the signal, on the strand.
    struct end_of_work;

    static asio::awaitable<void> work(std::shared_ptr<campaigner> self);

    bool healthy() const noexcept;
    void perform(recipes::candidacy::action what);
    void campaign();
    void stop_campaign();
    void start_work();
    void work_ended(std::exception_ptr error);
    void release(bool finish);
    void set_timer();
    void wake();
    void complete();

    const std::shared_ptr<election_state> state_;
    const asio::strand<asio::any_io_executor> strand_;
    const body body_;
    detail::handler_executor executor_; // has outstanding work until the handler is called
    asio::any_completion_handler<void(std::exception_ptr)> told_;
    recipes::candidacy core_;
    asio::steady_timer timer_;
    std::uint64_t timers_ = 0;
    std::shared_ptr<asking> asking_;
    lease held_;
    std::uint64_t term_ = 0;
    unsigned releases_ = 0;          // under way
    bool finishes_ = false;          // after them
    asio::cancellation_signal stop_; // of the body
    bool working_ = false;
    std::exception_ptr error_; // the result
};

} // namespace holdfast::io
