#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::io {

namespace asio = boost::asio;

// What is told that its execution context is destroyed, or that the process has forked.
class registrant {
public:
    // Keeps it alive; none if it is being destroyed.
    virtual std::shared_ptr<registrant> owned_registrant() noexcept = 0;
    virtual void abandon() noexcept = 0;
    virtual void leave_to_parent() noexcept = 0;

protected:
    ~registrant() = default;

private:
    friend class registry;
    std::list<registrant*>::iterator place_{};
    bool has_place_ = false;
};

// Owners of handlers of one execution context: engines and recipes. It tells them when the context
// is destroyed. Otherwise an owner and a coroutine that waits for it would keep each other alive.
class registry final : public asio::execution_context::service {
public:
    using key_type = registry;
    static asio::execution_context::id id;

    explicit registry(asio::execution_context& context) : service(context) {}

    static registry& of(const asio::any_io_executor& executor)
    {
        return asio::use_service<registry>(asio::query(executor, asio::execution::context));
    }

    void add(registrant& r);
    // Does nothing if it was not added, for lack of memory.
    void remove(registrant& r) noexcept;

private:
    std::vector<std::shared_ptr<registrant>> alive();
    void shutdown() noexcept override;
    void notify_fork(asio::execution_context::fork_event event) override;

    std::mutex mutex_;
    std::list<registrant*> registrants_;
};

} // namespace holdfast::io
