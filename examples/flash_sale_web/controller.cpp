#include "controller.hpp"

#include "buttons.hpp"
#include "figures.hpp"
#include "load.hpp"
#include "spawn.hpp"

#include "support/postgres_server.hpp"

#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;
using holdfast::test::redis_server;

struct interrupted {};

std::string read_page()
{
    std::ifstream file(FLASH_SALE_WEB_PAGE, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty())
        throw std::runtime_error("cannot read " FLASH_SALE_WEB_PAGE);
    return text;
}

// The very first start of fencing on these nodes. From here on, a node that comes back empty has
// lost its data, and is in quarantine.
asio::awaitable<void> deploy_fencing(asio::any_io_executor executor, const lock_nodes& nodes)
{
    holdfast::locker locker(executor, holdfast::redlock(nodes.endpoints(), fenced(true)));
    asio::steady_timer timer(executor);
    for (std::size_t connected = 0; connected < nodes.count();) {
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
        const holdfast::locker_stats now = locker.stats();
        connected = static_cast<std::size_t>(std::count_if(
            now.nodes.begin(), now.nodes.end(), [](const auto& node) { return node.connected; }));
    }
    holdfast::lock_options terms;
    terms.ttl = 2s; // not longer than the quarantine
    const holdfast::lock first(locker, "first-deployment", terms);
    holdfast::lease lease = co_await first.acquire();
    co_await lease.release();
    co_await locker.close();
}

class controller {
public:
    controller(asio::io_context& io, const settings& wanted)
        : io_(io),
          wanted_(wanted),
          signals_(io, SIGINT, SIGTERM, SIGHUP)
    {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (ec)
                return;
            interrupted_ = true;
            io_.stop();
        });
    }

    int run()
    {
        start_stores();
        asio::co_spawn(io_, work(), rethrow);
        io_.run();
        if (wanted_.only_strategies) {
            if (interrupted_)
                return 130;
            std::cout << strategies_->text();
            return strategies_->kept_promises() ? 0 : 1;
        }
        print_totals();
        return sale_->books().of(true).oversold == 0 ? 0 : 1;
    }

private:
    // Each step takes some time, and is not ended by a signal: look for one in between.
    void say(const std::string& step)
    {
        io_.poll();
        io_.restart();
        if (interrupted_)
            throw interrupted();
        std::cerr << step << std::endl;
    }

    void start_stores()
    {
        say("starting PostgreSQL");
        // A frozen client must not hold its row locks for ever.
        postgres_.emplace(holdfast::test::postgres_options{
            .settings = {"max_connections=300", "idle_in_transaction_session_timeout=2s"}});
        say("starting " + std::to_string(wanted_.nodes) + " Redis servers for the locks");
        nodes_.emplace(wanted_.nodes);
        redis_stock_.emplace();
        const auto executor = io_.get_executor();
        stock_.emplace(executor, postgres_->where(), *redis_stock_);
        strategies_.emplace(executor, *stock_, std::chrono::seconds(wanted_.seconds));
        sale_.emplace(executor, *stock_, *strategies_, news_, wanted_.stock);
        say("starting " + std::to_string(wanted_.servers) + " servers of the shop");
    }

    asio::awaitable<void> work()
    {
        co_await stock_->make_tables();
        co_await deploy_fencing(io_.get_executor(), *nodes_);
        co_await start_shop();
        if (wanted_.only_strategies) {
            std::cerr << "comparing " << all_strategies.size() << " strategies, " << wanted_.seconds
                      << " s each\n";
            co_await strategies_->run(*load_);
            io_.stop();
            co_return;
        }
        serve_page();
        co_await sale_->run(*load_);
    }

    asio::awaitable<void> start_shop()
    {
        const shop_settings given{nodes_->endpoints(), postgres_->where(), redis_stock_->port(),
            std::chrono::microseconds(wanted_.think_us)};
        servers_.emplace(io_, wanted_.servers, given, [this](std::size_t server, auto refused) {
            news_.add(news::kind::repair, "PostgreSQL has refused " + std::to_string(refused) +
                                              (refused == 1 ? " late write" : " late writes") +
                                              " of server " + std::to_string(server + 1) +
                                              ": the token was too small.");
        });
        figures_.emplace(*nodes_, *servers_, *sale_, *strategies_, news_);
        load_settings buyers;
        buyers.servers = co_await servers_->ports();
        buyers.buyers = wanted_.buyers;
        buyers.rate = wanted_.rate;
        load_.emplace(
            io_.get_executor(), "load", load_arguments(buyers), [this](const json::object& line) {
                if (line.contains("measured"))
                    strategies_->hear(line);
                else
                    figures_->hear(line);
            });
    }

    void serve_page()
    {
        buttons_.emplace(*nodes_, *servers_, *sale_, news_);
        page_.emplace(
            io_, wanted_.port, read_page(),
            [this](feed_position& seen) { return figures_->now(seen); },
            [this](const json::object& asked) { return buttons_->press(asked); });
        asio::co_spawn(io_, page_->run(), rethrow);
        asio::co_spawn(io_, figures_->draw(), rethrow);
        news_.add(news::kind::info, "The sale begins, under the fenced lock.");
        std::cout << "the sale is at " << page_->address() << " (Ctrl-C ends it)" << std::endl;
    }

    void print_totals() const
    {
        for (const bool locked : {true, false}) {
            const ledger::totals all = sale_->books().of(locked);
            std::cout << (locked ? "with the lock:    " : "without the lock: ")
                      << "orders=" << all.orders << " oversold=" << all.oversold << '\n';
        }
    }

    asio::io_context& io_;
    settings wanted_;
    asio::signal_set signals_; // before the first process is started
    bool interrupted_ = false;
    news news_;
    std::optional<holdfast::test::postgres_server> postgres_;
    std::optional<lock_nodes> nodes_;
    std::optional<redis_server> redis_stock_;
    std::optional<stockroom> stock_;
    std::optional<comparison> strategies_;
    std::optional<sale> sale_;
    std::optional<shop_servers> servers_;
    std::optional<worker> load_;
    std::optional<figures> figures_;
    std::optional<buttons> buttons_;
    std::optional<page_server> page_;
};

} // namespace

int run_controller(const settings& wanted)
{
    std::signal(SIGPIPE, SIG_IGN); // a process that has ended is an error, not the end of this one
    asio::io_context io(1);
    controller all(io, wanted);
    try {
        return all.run();
    } catch (const interrupted&) {
        std::cerr << "interrupted\n";
        return 130;
    }
}

} // namespace flash_sale_web
