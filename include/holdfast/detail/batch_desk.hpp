#pragma once

#include <holdfast/detail/batch_ending.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/detail/handler.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace holdfast {

struct batch_options;

namespace detail {

// A request of a batcher, and the caller that waits for its reply, without their types.
class batch_request {
public:
    batch_request() = default;
    batch_request(const batch_request&) = delete;
    batch_request& operator=(const batch_request&) = delete;
    virtual ~batch_request() = default;

    virtual asio::cancellation_slot slot() const noexcept = 0;
    // Tells the caller, in a later turn of its executor, that there is no reply.
    virtual void fail(error_code why) = 0;
};

class batch_desk;

// Serves batches, without their types.
class batch_server {
public:
    batch_server() = default;
    batch_server(const batch_server&) = delete;
    batch_server& operator=(const batch_server&) = delete;
    virtual ~batch_server() = default;

    // Begins to serve one batch under the lease. To be called on the strand of the desk.
    virtual void serve(std::shared_ptr<batch_desk> desk, lease held) = 0;
};

// The requests of a batcher, from submit() to the reply, and the lock under which they are served.
// A batch is served on the strand: begin_batch(), end_batch(), ask_again(), end_turn().
class batch_desk {
public:
    batch_desk(const batch_desk&) = delete;
    batch_desk& operator=(const batch_desk&) = delete;
    virtual ~batch_desk() = default;

    virtual void submit(std::shared_ptr<batch_request> request) = 0;
    // Completes `waiter`, by fail() without an error, when nothing is served any more.
    virtual void close(std::shared_ptr<batch_request> waiter) = 0;
    virtual void close() noexcept = 0;
    // Of the handlers that have none.
    virtual const asio::any_io_executor& usual_executor() const noexcept = 0;

    virtual const asio::any_io_executor& strand() const noexcept = 0;
    // Shared with the caller: another thread may cancel the call while its request is taken.
    virtual std::vector<std::shared_ptr<batch_request>> begin_batch() = 0;
    struct callers {
        error_code outcome; // told to each
        // In the order of the batch; null where the caller does not wait any more.
        std::vector<std::shared_ptr<batch_request>> waiting;
    };
    virtual callers end_batch(const batch_ending& how) = 0;
    // To be called before the lease is given back: if requests wait, the lock can transfer it.
    virtual void ask_again() = 0;
    virtual void end_turn() = 0;

protected:
    batch_desk() = default;
};

HOLDFAST_EXPORT std::shared_ptr<batch_desk> make_batch_desk(
    const lock& under, const batch_options& options, std::unique_ptr<batch_server> server);

} // namespace detail
} // namespace holdfast
