#include "orchestra.hpp"

#include "lock_servers.hpp"
#include "process.hpp"
#include "report.hpp"
#include "saboteur.hpp"
#include "stock.hpp"
#include "support/redis_server.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>

#include <exception>
#include <iostream>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flash_sale {
namespace {

using holdfast::test::redis_server;

class sale {
public:
    sale(asio::io_context& io, const settings& wanted);
    int run();

private:
    void start_workers();
    asio::awaitable<void> listen(worker_process& worker);
    asio::awaitable<void> show_progress();
    void hear(worker_process& worker, std::string_view line);
    void cause_faults();
    long recorded_orders();
    void note_stop(worker_process& worker);
    void wake_if_time();
    verdict check();
    int conclude();

    asio::io_context& io_;
    settings wanted_;
    asio::signal_set signals_; // before the first server is started
    asio::steady_timer tick_;
    redis_server shop_;
    std::unique_ptr<lock_servers> nodes_; // null without a lock
    saboteur saboteur_;
    std::list<worker_process> workers_;
    std::size_t running_ = 0;
    bool crashed_ = false;
    worker_process* stopped_ = nullptr; // the worker that is stopped
    long orders_at_stop_ = 0;
    freeze frozen_;
    int interrupted_ = 0;
    tally tally_;
    progress progress_;
};

sale::sale(asio::io_context& io, const settings& wanted)
    : io_(io),
      wanted_(wanted),
      signals_(io, SIGINT, SIGTERM, SIGHUP),
      tick_(io),
      nodes_(wanted.lock ? start_lock_servers(wanted.store, wanted.nodes) : nullptr),
      saboteur_(wanted_, nodes_.get())
{}

void rethrow(std::exception_ptr error)
{
    if (error)
        std::rethrow_exception(error); // out of io.run()
}

int sale::run()
{
    signals_.async_wait([this](boost::system::error_code ec, int signal) {
        if (ec)
            return;
        interrupted_ = signal;
        io_.stop();
    });
    shop_.command({"SET", stock_key, std::to_string(wanted_.stock)});
    progress_.say(std::to_string(wanted_.buyers) + " buyers want " + std::to_string(wanted_.stock) +
                  " items from " + std::to_string(wanted_.processes) + " processes, " +
                  (nodes_ ? "one lock on " + nodes_->title() : "no lock") +
                  (wanted_.fenced ? ", fenced" : ""));
    start_workers();
    asio::co_spawn(io_, show_progress(), rethrow);
    io_.run();
    progress_.finish();
    if (interrupted_ != 0) {
        std::cerr << "interrupted\n";
        return 128 + interrupted_;
    }
    return conclude();
}

void sale::start_workers()
{
    unsigned next = 0;
    for (unsigned i = 0; i < wanted_.processes; ++i) {
        worker_settings given;
        given.stock_port = shop_.port();
        given.store = wanted_.store;
        if (nodes_)
            given.nodes = nodes_->urls();
        given.coroutines = wanted_.coroutines;
        given.first_buyer = next;
        given.buyers = (wanted_.buyers - next) / (wanted_.processes - i);
        given.think_ms = wanted_.think_ms;
        given.fenced = wanted_.fenced;
        given.freezes = wanted_.freeze && i == 0;
        next += given.buyers;
        auto& worker = workers_.emplace_back(io_.get_executor(), given);
        ++running_;
        asio::co_spawn(io_, listen(worker), rethrow);
    }
}

asio::awaitable<void> sale::listen(worker_process& worker)
{
    std::string received;
    auto input = asio::dynamic_buffer(received);
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    for (;;) {
        const auto [ec, size] = co_await asio::async_read_until(worker.output, input, '\n', token);
        if (ec)
            break; // the worker has ended
        hear(worker, std::string_view(received).substr(0, size - 1));
        received.erase(0, size);
    }
    if (worker.process.wait() != 0)
        crashed_ = true;
    if (stopped_ == &worker)
        stopped_ = nullptr; // it was killed while it was stopped
    if (--running_ == 0)
        io_.stop();
    wake_if_time();
}

long sale::recorded_orders()
{
    return std::stol(shop_.command({"LLEN", orders_key}));
}

void sale::note_stop(worker_process& worker)
{
    worker.process.wait_until_stopped();
    stopped_ = &worker;
    ++frozen_.processes;
    orders_at_stop_ = recorded_orders();
    progress_.say("process " + std::to_string(worker.process.pid()) + " is stopped at " +
                  std::to_string(orders_at_stop_) + " orders, between its read and its write");
}

// Resumes the stopped worker when others have held the lock for some time, or none is left.
void sale::wake_if_time()
{
    constexpr long enough = 10;
    if (!stopped_)
        return;
    frozen_.orders_meanwhile = recorded_orders() - orders_at_stop_;
    if (frozen_.orders_meanwhile < enough && running_ > 1)
        return;
    progress_.say("process " + std::to_string(stopped_->process.pid()) + " continues after " +
                  std::to_string(frozen_.orders_meanwhile) + " orders of others");
    std::exchange(stopped_, nullptr)->process.resume();
}

void sale::hear(worker_process& worker, std::string_view line)
{
    if (line == stopping) {
        note_stop(worker);
        return;
    }
    tally_.add(line);
    wake_if_time();
    cause_faults();
}

void sale::cause_faults()
{
    const auto done = saboteur_.act(tally_.count(outcome::sold));
    if (!done.empty())
        progress_.say(done + " at " + std::to_string(tally_.count(outcome::sold)) + " orders");
}

asio::awaitable<void> sale::show_progress()
{
    for (;;) {
        tick_.expires_after(progress_.interval());
        co_await tick_.async_wait(asio::use_awaitable);
        cause_faults();
        progress_.update(std::to_string(tally_.count(outcome::sold)) + " orders, " +
                         std::to_string(tally_.served()) + " of " + std::to_string(wanted_.buyers) +
                         " buyers served");
    }
}

verdict sale::check()
{
    const auto left = shop_.command({"GET", stock_key});
    return verdict(wanted_.stock, std::stol(left), recorded_orders());
}

// The workers' counts must agree with the store's records; otherwise the figures prove nothing.
int sale::conclude()
{
    const auto truth = check();
    const auto confirmed = static_cast<long>(tally_.count(outcome::sold));
    const auto in_doubt = static_cast<long>(tally_.count(outcome::in_doubt));
    const bool agreed = truth.sold >= confirmed && truth.sold <= confirmed + in_doubt;
    const bool all_served =
        !crashed_ && tally_.served() == wanted_.buyers && tally_.count(outcome::gave_up) == 0;

    // The pause must have lasted past the end of the lease; otherwise it proves nothing.
    const bool frozen = !wanted_.freeze || frozen_.orders_meanwhile > 0;

    print_table(wanted_, tally_, truth, saboteur_.losses(), frozen_);
    if (!agreed)
        std::cout << "the store recorded " << truth.sold << " orders: the counts do not agree\n";
    if (!all_served)
        std::cout << "not all buyers were served\n";
    if (!frozen)
        std::cout << "no process was stopped while others sold\n";
    std::cout << truth.text() << std::endl;
    return truth.good() && agreed && all_served && frozen ? 0 : 1;
}

} // namespace

int run_sale(const settings& wanted)
{
    std::signal(SIGPIPE, SIG_IGN); // if nobody reads the output, servers are still taken down
    asio::io_context io;
    sale today(io, wanted);
    return today.run();
}

} // namespace flash_sale
