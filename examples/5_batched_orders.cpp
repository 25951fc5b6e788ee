// Many orders for one item. A lease for each order would be slow: every order would wait for the
// one before. A batcher gathers the orders of this process and serves up to 256 of them under one
// lease, with one step of the store for all of them.
//
//     5_batched_orders redis://127.0.0.1:7001 redis://127.0.0.1:7002 redis://127.0.0.1:7003

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct order {
    int amount = 0;
};

enum class answer { sold_out, sold };

// Stands for the store that all processes share: reads and writes take a millisecond each.
struct shop {
    int stock = 0;
    std::size_t batches = 0;
};

asio::awaitable<void> round_trip()
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
}

// Runs under the lock. With fencing, give `lease.fence()` to the store: see guarded_write.hpp.
asio::awaitable<std::vector<answer>> sell(shop& store, std::span<order> orders)
{
    co_await round_trip();
    int left = store.stock;
    std::vector<answer> answers;
    for (const order& each : orders) {
        const bool enough = each.amount <= left;
        left -= enough ? each.amount : 0;
        answers.push_back(enough ? answer::sold : answer::sold_out);
    }
    co_await round_trip();
    store.stock = left;
    ++store.batches;
    co_return answers;
}

using orders = holdfast::batcher<order, answer>;

asio::awaitable<void> buy(orders& all, int& sold)
{
    const answer given = co_await all.submit(order{1});
    sold += given == answer::sold ? 1 : 0;
}

asio::awaitable<void> wait_for(const std::size_t& open)
{
    while (open != 0)
        co_await round_trip();
}

asio::awaitable<void> run(holdfast::locker& locker, int& status)
{
    shop store{.stock = 500};
    auto body = [&store](holdfast::lease&, std::span<order> batch) {
        return sell(store, batch);
    };
    orders all(holdfast::lock(locker, "stock:pen"), body);

    int sold = 0;
    std::size_t open = 2000;
    for (std::size_t i = 0; i < 2000; ++i)
        asio::co_spawn(locker.get_executor(), buy(all, sold), [&open](std::exception_ptr error) {
            --open;
            if (error)
                std::rethrow_exception(error);
        });
    co_await wait_for(open);
    std::cout << "2000 orders in " << store.batches << " batches: sold " << sold << ", left "
              << store.stock << '\n';
    status = sold == 500 && store.stock == 0 ? 0 : 1;
    co_await all.close();
    co_await locker.close();
}

int main(int argc, char** argv)
try {
    const std::vector<holdfast::endpoint> nodes(argv + 1, argv + argc);
    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes));

    int status = 1;
    asio::co_spawn(io, run(locker, status), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
    return status;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
