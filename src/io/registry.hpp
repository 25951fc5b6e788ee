#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;
class engine;

// The engines of one execution context. It tells them when the context is destroyed. Otherwise an
// engine and a coroutine that waits for it would keep each other alive.
class registry final : public asio::execution_context::service {
public:
    using key_type = registry;
    static asio::execution_context::id id;

    explicit registry(asio::execution_context& context) : service(context) {}

    static registry& of(const asio::any_io_executor& executor)
    {
        return asio::use_service<registry>(asio::query(executor, asio::execution::context));
    }

    void add(engine& e);
    void remove(engine& e) noexcept;

private:
    std::vector<std::shared_ptr<engine>> alive();
    void shutdown() noexcept override;
    void notify_fork(asio::execution_context::fork_event event) override;

    std::mutex mutex_;
    std::vector<engine*> engines_;
};

} // namespace holdfast::io
