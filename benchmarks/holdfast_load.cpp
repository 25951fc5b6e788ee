#include "holdfast_load.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <string>

namespace benchmark {
namespace {

namespace asio = boost::asio;

struct crew {
    holdfast::locker locker;
    benchmark::meter meter;
    bool stopping = false;
    std::size_t running = 0;
};

asio::awaitable<void> work(crew& all, std::string name)
{
    const holdfast::lock lock(all.locker, name);
    while (!all.stopping) {
        const auto asked = all.meter.now();
        holdfast::lease lease = co_await lock.acquire(holdfast::forever);
        const auto acquired = all.meter.now();
        co_await lease.release();
        all.meter.count(asked, acquired);
    }
    if (--all.running == 0)
        co_await all.locker.close();
}

asio::awaitable<void> watch_the_clock(crew& all, load wanted)
{
    asio::steady_timer timer(all.locker.get_executor(), wanted.warm_up);
    co_await timer.async_wait(asio::use_awaitable);
    all.meter.begin();
    timer.expires_at(timer.expiry() + wanted.length);
    co_await timer.async_wait(asio::use_awaitable);
    all.meter.end();
    all.stopping = true;
}

void rethrow(std::exception_ptr error)
{
    if (error)
        std::rethrow_exception(error);
}

} // namespace

result run_holdfast(const std::vector<holdfast::endpoint>& nodes, const load& wanted)
{
    asio::io_context io(1);
    crew all{holdfast::locker(io.get_executor(), holdfast::redlock(nodes)), meter(wanted)};
    all.running = wanted.concurrency;
    for (std::size_t i = 0; i < wanted.concurrency; ++i) {
        const std::string name = wanted.shared ? "bench:shared" : "bench:" + std::to_string(i);
        asio::co_spawn(io, work(all, name), rethrow);
    }
    asio::co_spawn(io, watch_the_clock(all, wanted), rethrow);
    io.run();
    return all.meter.take();
}

} // namespace benchmark
