// Sells one item of a stock in each order, from many coroutines at once, and prints the orders as
// one line of JSON. The stock is in a server of its own, under the key `stock`. `--how` says how an
// order is made safe:
//
//     batch          a batcher gathers the orders; one lease for each batch, which reads and writes
//     lease          one lease for each order, which reads and writes
//     script         a Lua script in the server tests and decrements; no lock
//     script_batch   orders are gathered as by a batcher; one such script for each batch
#include "closed_loop.hpp"
#include "command_line.hpp"
#include "common_begin.hpp"
#include "connected.hpp"
#include "gatherer.hpp"
#include "shop_connection.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <span>
#include <stdexcept>

namespace {

namespace po = boost::program_options;
namespace asio = boost::asio;

constexpr const char* script = "local left=tonumber(redis.call('get',KEYS[1])) "
                               "if left<tonumber(ARGV[1]) then return -1 end "
                               "return redis.call('decrby',KEYS[1],ARGV[1])";
constexpr const char* stock = "stock";

struct settings {
    std::string how = "batch", shop;
    std::size_t concurrency = 256, length = 1000, warm_up = 300, linger = 0;
    std::int64_t begin_ms = 0;
    std::vector<std::string> nodes;
};

struct market {
    market(const settings& given, asio::io_context& context)
        : wanted(given),
          io(context),
          locker(io.get_executor(), holdfast::redlock({given.nodes.begin(), given.nodes.end()})),
          lock(locker, "orders", {.linger = std::chrono::milliseconds(given.linger)}),
          shop(io,
              static_cast<std::uint16_t>(std::stoul(given.shop.substr(given.shop.rfind(':') + 1))))
    {}

    const settings wanted;
    asio::io_context& io;
    holdfast::locker locker;
    holdfast::lock lock;
    benchmark::shop_connection shop;
    benchmark::closed_loop loop;
};

// Under a lease. Returns what is left.
asio::awaitable<void> sell(market& all, std::size_t amount)
{
    static const std::string get = benchmark::shop_command("GET", stock);
    const std::string before = co_await all.shop.ask(get);
    const long left = std::stol(before);
    if (left < static_cast<long>(amount))
        throw std::runtime_error("sold out");
    const std::string text = std::to_string(left - static_cast<long>(amount));
    const std::string set = benchmark::shop_command("SET", stock, text);
    co_await all.shop.ask(set);
}

asio::awaitable<void> order_by_lease(market& all)
{
    holdfast::lease held = co_await all.lock.acquire(holdfast::forever);
    co_await sell(all, 1);
    co_await held.release();
}

asio::awaitable<void> decrement(market& all, const std::string& command)
{
    const std::string left = co_await all.shop.ask(command);
    if (left == "-1")
        throw std::runtime_error("sold out");
}

// The ways to make an order. Those that are not wanted do nothing.
struct ways {
    ways(market& market, const std::string& script_digest)
        : all(market),
          digest(script_digest),
          batches(all.lock,
              [this](holdfast::lease&, std::span<int> orders) { return sell(all, orders.size()); }),
          gathered(all.io, [this](std::size_t orders) { return sell_by_script(orders); })
    {}

    asio::awaitable<void> order()
    {
        const std::string& how = all.wanted.how;
        if (how == "batch")
            co_await batches.submit(1);
        else if (how == "lease")
            co_await order_by_lease(all);
        else if (how == "script")
            co_await decrement(all, one);
        else
            co_await gathered.submit();
    }

    asio::awaitable<void> sell_by_script(std::size_t orders)
    {
        const std::string command = decrement_by(orders);
        co_await decrement(all, command);
    }

    std::string decrement_by(std::size_t orders) const
    {
        return benchmark::shop_command("EVALSHA", digest, "1", stock, std::to_string(orders));
    }

    market& all;
    const std::string digest, one = decrement_by(1);
    holdfast::batcher<int> batches;
    benchmark::gatherer gathered;
};

asio::awaitable<void> buy(market& all, ways& shop)
{
    while (all.loop.go_on()) {
        co_await shop.order();
        all.loop.finish_one();
    }
    all.loop.leave();
}

asio::awaitable<void> measure(market& all)
{
    co_await benchmark::connected(all.locker, "orders:first");
    const std::string load = benchmark::shop_command("SCRIPT", "LOAD", script);
    const std::string digest = co_await all.shop.ask(load);
    ways shop(all, digest);
    co_await benchmark::common_begin(all.wanted.begin_ms);
    all.loop.begin(
        all.io, all.wanted.concurrency, [&all, &shop](std::size_t) { return buy(all, shop); });
    const auto in_all = co_await all.loop.measure(std::chrono::milliseconds(all.wanted.warm_up),
        std::chrono::milliseconds(all.wanted.length));
    benchmark::print({{"orders", in_all.done}, {"seconds", in_all.seconds},
        {"cpu_seconds", in_all.cpu_seconds}, {"all_orders", all.loop.total()}});
    co_await shop.batches.close();
    co_await all.locker.close();
    all.shop.close();
}

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("order_client");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("how", po::value(&wanted.how)->default_value(wanted.how),
        "batch, lease, script or script_batch")("shop",
        po::value(&wanted.shop)->required()->value_name("URL"),
        "the server with the stock")("concurrency", number(wanted.concurrency), "orders in flight")(
        "length", number(wanted.length), "milliseconds that are measured")(
        "warm-up", number(wanted.warm_up), "milliseconds before the measurement")(
        "linger", number(wanted.linger), "milliseconds, of the lock")("begin",
        po::value(&wanted.begin_ms)->default_value(wanted.begin_ms)->value_name("N"),
        "when all processes begin, in milliseconds since 1970; 0: at once");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;
    if (wanted.how != "batch" && wanted.how != "lease" && wanted.how != "script" &&
        wanted.how != "script_batch")
        throw std::invalid_argument("--how must be batch, lease, script or script_batch");
    asio::io_context io(1);
    market all(wanted, io);
    benchmark::run_to_end(io, measure(all));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("order_client", [&] { run(argc, argv); });
}
