// Takes a lock in memory, and links the code for Redis nodes.
#include <holdfast/holdfast.hpp>
#ifdef CONSUMER_TLS
#include <holdfast/tls.hpp>
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>

namespace asio = boost::asio;

asio::awaitable<void> sell(holdfast::locker& locker, int& sold)
{
    holdfast::lock lock(locker, "stock:A");
    holdfast::lease lease = co_await lock.acquire();
    sold += lease.held() ? 1 : 0;
    co_await lease.release();
    co_await locker.close();
}

int main()
{
    const holdfast::backend nodes = holdfast::redlock({"redis://127.0.0.1:7001"});
#ifdef CONSUMER_TLS
    holdfast::redlock_options options;
    options.tls = holdfast::tls();
    const holdfast::backend secure = holdfast::redlock({"rediss://redis.example"}, options);
#endif

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::memory());
    int sold = 0;
    asio::co_spawn(io, sell(locker, sold), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
    return sold == 1 ? 0 : 1;
}
