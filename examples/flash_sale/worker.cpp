#include "worker.hpp"

#include "report.hpp"
#include "stock.hpp"
#include "store_kind.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <csignal>

#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

namespace flash_sale {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// State that the buyers of this process share.
struct shop {
    worker_settings given;
    std::optional<holdfast::locker> locker;
    unsigned next_buyer = 0;
    unsigned open_counters = 0;
    unsigned grants = 0;
    bool failed = false;
};

// The progress of one order. It outlives the body of `hold()`, which may be cancelled anywhere.
struct order {
    enum class stage { waiting, reading, sold_out, writing, written };

    std::string buyer;
    stage at = stage::waiting;
    clock::time_point asked = clock::now();
    clock::time_point granted{};

    std::chrono::microseconds wait() const
    {
        const auto end = at == stage::waiting ? clock::now() : granted;
        return std::chrono::duration_cast<std::chrono::microseconds>(end - asked);
    }
};

// Stops this process, as a debugger, a hypervisor or a lack of memory may do at the worst moment.
// The process does not notice the pause. It continues when the parent resumes it.
void stand_still()
{
    std::cout << stopping << std::endl;
    ::raise(SIGSTOP);
}

// The critical section: if another buyer writes between the read and the write, an update is lost.
asio::awaitable<void> take_one(shop& here, stock_client& stock, order& mine, fence token)
{
    mine.granted = clock::now();
    mine.at = order::stage::reading;
    const bool freezes = here.given.freezes && ++here.grants == 3;
    const long left = co_await stock.read(token);
    if (left <= 0) {
        mine.at = order::stage::sold_out;
        co_return;
    }

    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer thinking(executor, std::chrono::milliseconds(here.given.think_ms));
    co_await thinking.async_wait(asio::use_awaitable);

    // The write must not be cancelled, so that its result is known.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    mine.at = order::stage::writing;
    if (freezes)
        stand_still(); // checking the lease first does not help: this can happen after any check
    co_await stock.write(left - 1, mine.buyer, token);
    mine.at = order::stage::written;
}

asio::awaitable<void> take_one_alone(shop& here, stock_client& stock, order& mine)
{
    holdfast::lock_options options;
    options.ttl = shortest_ttl(here.given.store);
    options.wait = 60s; // the queue is long
    holdfast::lock lock(*here.locker, "stock:A", options);
    auto body = [&here, &stock, &mine](holdfast::lease& lease) {
        return take_one(here, stock, mine, lease.fence());
    };
    co_await lock.hold(body);
}

outcome judge(const order& mine)
{
    return mine.at == order::stage::written ? outcome::sold : outcome::sold_out;
}

outcome judge_lost_lease(const order& mine)
{
    const bool wrote = mine.at == order::stage::writing || mine.at == order::stage::written;
    return wrote ? outcome::in_doubt : outcome::lost;
}

void tell(outcome what, const order& mine, const std::string& why = {})
{
    std::cout << buyer_line(what, mine.wait(), why) << std::flush;
}

// Failures of the shop's own server are not caught here: they end the worker.
asio::awaitable<void> serve(shop& here, stock_client& stock, order mine)
{
    bool lost = false;
    try {
        if (here.locker)
            co_await take_one_alone(here, stock, mine);
        else
            co_await take_one(here, stock, mine, std::nullopt);
        tell(judge(mine), mine);
    } catch (const stale_token&) {
        tell(outcome::refused, mine);
    } catch (const boost::system::system_error& e) {
        if (e.code() == holdfast::errc::lease_lost) {
            lost = true;
            tell(judge_lost_lease(mine), mine);
        } else if (mine.at == order::stage::waiting) {
            const std::string states = describe_nodes(here.locker->stats());
            tell(outcome::gave_up, mine, e.code().message() + " " + states);
        } else {
            throw;
        }
    }
    if (lost)
        co_await stock.connect(); // the old connection may still receive an unwanted reply
}

// Each of the coroutines serves one buyer after another.
asio::awaitable<void> run_counter(shop& here)
{
    const auto executor = co_await asio::this_coro::executor;
    stock_client stock(executor, here.given.stock_port, here.given.fenced);
    co_await stock.connect();
    const auto end = here.given.first_buyer + here.given.buyers;
    while (here.next_buyer < end) {
        order mine{"buyer:" + std::to_string(here.next_buyer++)};
        co_await serve(here, stock, std::move(mine));
    }
}

void close_counter(shop& here, std::exception_ptr error)
{
    try {
        if (error)
            std::rethrow_exception(error);
    } catch (const std::exception& e) {
        here.failed = true;
        std::cerr << "flash_sale worker: " << e.what() << '\n';
    }
    if (--here.open_counters == 0 && here.locker)
        here.locker->close(asio::detached); // open connections would keep the program running
}

} // namespace

int run_worker(const worker_settings& given)
{
    asio::io_context io(1);
    shop here{given, std::nullopt, given.first_buyer, given.coroutines};
    if (!given.nodes.empty())
        here.locker.emplace(io.get_executor(), store_of(given));
    for (unsigned i = 0; i < given.coroutines; ++i) {
        auto closed = [&here](std::exception_ptr error) {
            close_counter(here, error);
        };
        asio::co_spawn(io, run_counter(here), closed);
    }
    io.run();

    lock_work done;
    if (here.locker) {
        const holdfast::locker_stats stats = here.locker->stats();
        done = {.attempts = stats.attempts, .handed_over = stats.handed_over};
        for (const holdfast::node_stats& node : stats.nodes)
            done.node_commands += node.commands;
    }
    std::cout << closing_line(done) << std::flush;
    return here.failed ? 1 : 0;
}

} // namespace flash_sale
