// The library as another project uses it: the example of the README, on the memory backend. Errors
// and exceptions cross the boundary of the library.
#include <holdfast/holdfast.hpp>
#ifdef CONSUMER_TLS
#include <holdfast/tls.hpp>
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <stdexcept>
#include <string_view>

namespace asio = boost::asio;

#ifdef CONSUMER_VERSION // that of the package
static_assert(std::string_view(HOLDFAST_VERSION_STRING) == CONSUMER_VERSION);
#endif

asio::awaitable<void> sell(holdfast::locker& locker, int& sold, bool& refused)
{
    holdfast::lock lock(locker, "stock:A");
    holdfast::lease lease = co_await lock.acquire();
    sold += lease.held() ? 1 : 0;
    co_await lease.release();
    try {
        co_await lease.release();
    } catch (const boost::system::system_error& e) {
        refused = e.code() == holdfast::errc::not_held &&
                  e.code() == holdfast::condition::not_held &&
                  e.code().category() == holdfast::error_category();
    }
    co_await locker.close();
}

bool rejects_bad_address()
{
    try {
        const holdfast::endpoint bad("http://127.0.0.1");
        return false;
    } catch (const std::invalid_argument&) {
        return true;
    }
}

int main()
{
    // Created but not used: this links the code for Redis nodes.
    const holdfast::backend nodes = holdfast::redlock(
        {"redis://127.0.0.1:7001", "redis://127.0.0.1:7002", "redis://127.0.0.1:7003"});

#ifdef CONSUMER_TLS
    holdfast::redlock_options options;
    options.tls = holdfast::tls();
    const holdfast::backend secure = holdfast::redlock({"rediss://redis.example"}, options);
#endif

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::memory());
    int sold = 0;
    bool refused = false;
    asio::co_spawn(io, sell(locker, sold, refused), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
    return sold == 1 && refused && rejects_bad_address() ? 0 : 1;
}
