#include "parking.hpp"

#include "support/child_process.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

namespace contention {
namespace {

namespace asio = boost::asio;
using signal_channel = asio::experimental::channel<void(boost::system::error_code)>;
using holdfast::lock;
using holdfast::locker;

struct usage {
    double allocated = 0, resident = 0;
};

usage used_now()
{
    ::malloc_trim(0); // so that freed memory is not counted as resident
    const auto heap = ::mallinfo2();
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages >> pages; // the second number is the resident size
    usage now;
    now.allocated = static_cast<double>(heap.uordblks + heap.hblkhd);
    now.resident = static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    return now;
}

// The parked objects. It is destroyed before the context.
struct car_park {
    asio::io_context& io;
    holdfast::locker locker;
    signal_channel channel{io};
    std::vector<lock> locks{};
};

asio::awaitable<void> wait_for_lease(const lock& taken)
{
    const holdfast::lease never = co_await taken.acquire();
}

asio::awaitable<void> wait_for_message(signal_channel& empty)
{
    co_await empty.async_receive(asio::use_awaitable);
}

asio::awaitable<void> wait_for_timer(asio::io_context& io)
{
    asio::steady_timer timer(io, std::chrono::hours(1));
    co_await timer.async_wait(asio::use_awaitable);
}

void ignore(std::exception_ptr) {} // of coroutines that wait when the locker is closed

template <class Start>
asio::awaitable<void> start_all(asio::io_context& io, std::size_t count, Start start)
{
    for (std::size_t i = 0; i < count; ++i)
        asio::co_spawn(io, start(), ignore);
    for (int turn = 0; turn < 10; ++turn) // lets the coroutines run until they wait
        co_await asio::post(asio::use_awaitable);
}

asio::awaitable<void> use(const lock& once)
{
    holdfast::lease lease = co_await once.acquire();
    co_await lease.release();
}

asio::awaitable<void> use_share(const std::vector<lock>& locks, std::size_t& next)
{
    while (next < locks.size()) {
        const lock& once = locks[next++];
        co_await use(once);
    }
}

asio::awaitable<void> use_each(
    asio::io_context& io, const std::vector<lock>& locks, std::size_t at_once)
{
    std::size_t next = 0, running = at_once;
    for (std::size_t i = running; i > 0; --i)
        asio::co_spawn(io, use_share(locks, next), [&running](std::exception_ptr) { --running; });
    while (running > 0)
        co_await asio::post(asio::use_awaitable);
    asio::steady_timer stragglers(io, std::chrono::milliseconds(50));
    co_await stragglers.async_wait(asio::use_awaitable);
}

std::vector<lock> make_locks(locker& owner, const std::string& prefix, std::size_t count)
{
    std::vector<lock> made;
    made.reserve(count);
    while (made.size() < count)
        made.emplace_back(owner, prefix + std::to_string(made.size()));
    return made;
}

// The locker keeps the memory that operations in flight need, for any resource. Allocates it before
// the measurement, because it is not part of the memory that an idle resource keeps.
asio::awaitable<void> get_going(car_park& here)
{
    const std::vector<lock> others = make_locks(here.locker, "going:", 3000);
    co_await use_each(here.io, others, 300);
}

asio::awaitable<void> fill(car_park& here, const lock& taken, const parking_settings& given)
{
    const auto lease = [&] {
        return wait_for_lease(taken);
    };
    const auto message = [&] {
        return wait_for_message(here.channel);
    };
    const auto timer = [&] {
        return wait_for_timer(here.io);
    };
    if (given.what == "lease")
        co_await start_all(here.io, given.count, std::cref(lease));
    else if (given.what == "channel")
        co_await start_all(here.io, given.count, std::cref(message));
    else if (given.what == "timer")
        co_await start_all(here.io, given.count, std::cref(timer));
    else if (given.what == "copies")
        here.locks.assign(given.count, taken);
    else
        here.locks = make_locks(here.locker, "parking:", given.count);
    if (given.what == "used")
        co_await use_each(here.io, here.locks, 100);
}

asio::awaitable<void> measure(car_park& here, const parking_settings& given)
{
    const lock taken(here.locker, "parking:taken");
    co_await use(taken); // connects to the nodes
    const holdfast::lease lease = co_await taken.acquire();
    if (given.what == "used")
        co_await get_going(here);
    const usage before = used_now();
    co_await fill(here, taken, given);
    const usage after = used_now();
    if (given.what == "lease" && here.locker.stats().waiting != given.count)
        throw std::runtime_error("not all coroutines wait");
    const auto each = static_cast<double>(given.count);
    std::printf("%.1f %.1f\n", (after.allocated - before.allocated) / each,
        (after.resident - before.resident) / each);
    co_await here.locker.close();
}

} // namespace

int run_parking(const parking_settings& given)
{
    asio::io_context io(1);
    const std::vector<holdfast::endpoint> nodes(given.nodes.begin(), given.nodes.end());
    car_park here{io, holdfast::locker(io.get_executor(), holdfast::redlock(nodes))};
    asio::co_spawn(io, measure(here, given), [&io](std::exception_ptr error) {
        io.stop(); // some coroutines are still parked
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
    return 0;
}

parked_bytes measure_parked(
    const std::vector<std::string>& nodes, const std::string& what, std::size_t count)
{
    std::vector<std::string> words{
        holdfast::test::this_program(), "--parking=" + what, "--waiters=" + std::to_string(count)};
    for (const auto& node : nodes)
        words.push_back("--node=" + node);
    holdfast::test::child_process child(words);
    parked_bytes each;
    std::istringstream(child.read_line()) >> each.allocated >> each.resident;
    if (child.wait() != 0)
        throw std::runtime_error("a process has failed");
    return each;
}

} // namespace contention
