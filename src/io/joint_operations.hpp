#pragma once

#include "io/errand_performer.hpp"
#include "io/recipe_locks.hpp"

#include <holdfast/detail/pending_handler.hpp>
#include <holdfast/multi_lock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace holdfast::io {

// The operations of a `multi_lock` and its leases, made of those of the members. Each object is one
// operation, and lives as long as that.

// Performs a `joint_entry`; the result is a user's.
class joint_acquire final : public errand_performer {
public:
    using member_list = std::shared_ptr<const recipe_locks>;
    using acquire_handler = detail::any_handler<void(error_code, multi_lease)>;

    static void start(
        member_list members, std::chrono::milliseconds wait, bool once, acquire_handler&& handler);
    joint_acquire(member_list members, recipes::patience limit, acquire_handler&& handler);

private:
    void done(error_code why, std::size_t first, lease result) override;

    const member_list members_;
    detail::pending_handler<error_code, multi_lease> told_;
};

// Completes with the first member that is lost.
class joint_loss : public std::enable_shared_from_this<joint_loss> {
public:
    using error_handler = detail::any_handler<void(error_code)>;

    static void start(const std::vector<lease>& members, const asio::any_io_executor& executor,
        error_handler&& handler);
    joint_loss(std::size_t members, const asio::any_io_executor& executor, error_handler&& handler);

    const asio::any_io_executor& strand() const noexcept { return strand_; }

private:
    void end(error_code why);
    void stop_members();

    const asio::any_io_executor strand_;
    detail::pending_handler<error_code> handler_;
    std::deque<asio::cancellation_signal> stops_;
    bool started_ = false, over_ = false;
};

// Completes with the last member that is released.
class joint_release : public std::enable_shared_from_this<joint_release> {
public:
    using release_handler = detail::any_handler<void(error_code, release_outcome)>;

    static void start(std::vector<lease>& members, const asio::any_io_executor& executor,
        release_handler&& handler);
    joint_release(
        std::size_t members, const asio::any_io_executor& executor, release_handler&& handler);

    const asio::any_io_executor& strand() const noexcept { return strand_; }

private:
    void released(error_code ec, release_outcome outcome);
    void end(error_code why, release_outcome outcome);

    const asio::any_io_executor strand_;
    detail::pending_handler<error_code, release_outcome> handler_;
    std::size_t unanswered_;
    error_code error_;
    release_outcome worst_ = release_outcome::released;
    bool over_ = false;
};

} // namespace holdfast::io
