// Uses of the library that are correct, and others in which something was forgotten. The test
// compiles this file with and without the latter. Each of them has a mark at its end. One that only
// Clang reports is missing: `co_await one.acquire();` without a name for the lease.

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

using namespace holdfast;

namespace {

asio::awaitable<void> body(lease&)
{
    co_return;
}

} // namespace

asio::awaitable<void> correct(locker& all, const holdfast::lock& one)
{
    lease held = co_await one.acquire();
    lease other = co_await one.try_acquire(asio::use_awaitable);
    co_await held.extend();
    co_await held.release();
    co_await one.hold(body);
    one.acquire([](error_code, const lease&) {});
    one.hold(body, asio::detached);
    other.lost([](error_code) {});
    other.extend(asio::detached);
    other.release([](error_code, release_outcome) {});
    all.drain(std::chrono::seconds(1), asio::detached);
    all.close([](error_code) {});
}

#ifdef HOLDFAST_FORGET
asio::awaitable<void> forgetful(locker& all, const holdfast::lock& one)
{
    one.acquire();                        // forgotten
    one.acquire(std::chrono::seconds(1)); // forgotten
    one.try_acquire();                    // forgotten
    one.acquire(asio::use_awaitable);     // forgotten
    one.hold(body);                       // forgotten
    lease held = co_await one.acquire();
    held.lost();                               // forgotten
    held.extend();                             // forgotten
    held.release();                            // forgotten
    held.held();                               // forgotten
    all.drain(std::chrono::seconds(1));        // forgotten
    all.close();                               // forgotten
    one.explain(errc::contended);              // forgotten
    locker(all.get_executor(), memory());      // forgotten
    guarded_get("fence", held.fence(), "key"); // forgotten
}
#endif
