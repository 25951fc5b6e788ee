#include "io/look_up.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::io {

// The state shared with the look-up thread. It posts its result if a handler waits.
struct look_up::mailbox {
    std::mutex mutex;
    asio::any_io_executor executor;
    handler done;
    bool finished = false;
};

namespace {

look_up::endpoints resolve(const std::string& host, std::uint16_t port, error_code& ec)
{
    asio::io_context own;
    asio::ip::tcp::resolver resolver(own);
    look_up::endpoints found;
    for (const auto& entry : resolver.resolve(host, std::to_string(port), ec))
        found.push_back(entry.endpoint());
    return found;
}

} // namespace

void look_up::start(const asio::any_io_executor& executor, const std::string& host,
    std::uint16_t port, handler done)
{
    if (mailbox_) {
        const std::lock_guard lock(mailbox_->mutex);
        if (!mailbox_->finished) {
            mailbox_->executor = executor;
            mailbox_->done = std::move(done);
            return;
        }
    }
    mailbox_ = std::make_shared<mailbox>();
    mailbox_->executor = executor;
    mailbox_->done = std::move(done);
    auto work = [box = mailbox_, host, port] {
        error_code ec;
        endpoints found = resolve(host, port, ec);
        const std::lock_guard lock(box->mutex);
        box->finished = true;
        if (!box->done)
            return;
        asio::post(box->executor, [done = std::exchange(box->done, nullptr), ec,
                                      found = std::move(found)] { done(ec, found); });
    };
    try {
        std::thread(std::move(work)).detach();
    } catch (const std::system_error&) { // no more threads
        asio::post(executor,
            [done = std::exchange(mailbox_->done, nullptr)] { done(asio::error::no_memory, {}); });
        mailbox_.reset();
    }
}

void look_up::forget() noexcept
{
    if (!mailbox_)
        return;
    handler unheard; // destroyed outside the mutex: it may own the owner of this object
    const std::lock_guard lock(mailbox_->mutex);
    unheard = std::exchange(mailbox_->done, nullptr);
    mailbox_->executor = {};
}

} // namespace holdfast::io
