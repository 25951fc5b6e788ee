// How long a locker waits for a resource that another one has, in microseconds, as one line of
// JSON. Each of the two lockers has a thread of its own. `--how` says what the other one does:
//
//     linger      it has used the resource, and keeps it: `linger`. Counted from the acquire
//     hand_over   it holds the resource, and this one waits already. Counted from the release
#include "command_line.hpp"
#include "connected.hpp"
#include "quantiles.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace po = boost::program_options;
namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

struct settings {
    std::string how = "linger";
    std::size_t rounds = 500, warm_up = 50;
    std::vector<std::string> nodes;
};

// A locker with a thread of its own.
class party {
public:
    explicit party(const std::vector<std::string>& nodes)
        : locker(io_.get_executor(), holdfast::redlock({nodes.begin(), nodes.end()})),
          thread_([this] { io_.run(); })
    {}
    ~party()
    {
        work_.reset();
        io_.stop();
        thread_.join();
    }
    party(const party&) = delete;
    party& operator=(const party&) = delete;

    template <class Result>
    std::future<Result> begin(asio::awaitable<Result> what)
    {
        return asio::co_spawn(io_, std::move(what), asio::use_future);
    }
    template <class Result>
    Result run(asio::awaitable<Result> what)
    {
        return begin(std::move(what)).get();
    }

private:
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};

public:
    holdfast::locker locker;

private:
    std::thread thread_;
};

asio::awaitable<void> use(holdfast::lock lock)
{
    holdfast::lease held = co_await lock.acquire();
    co_await held.release();
}

asio::awaitable<holdfast::lease> take(holdfast::lock lock)
{
    holdfast::lease held = co_await lock.acquire();
    co_return held;
}

asio::awaitable<clock::time_point> release(holdfast::lease& held)
{
    const auto begin = clock::now();
    co_await held.release();
    co_return begin;
}

asio::awaitable<clock::time_point> pass_through(holdfast::lock lock)
{
    holdfast::lease held = co_await lock.acquire();
    const auto now = clock::now();
    co_await held.release();
    co_return now;
}

asio::awaitable<void> close(holdfast::locker& locker)
{
    co_await locker.close();
}

class contest {
public:
    explicit contest(const settings& given)
        : wanted_(given),
          holder_(given.nodes),
          visitor_(given.nodes)
    {
        holder_.run(benchmark::connected(holder_.locker, "sticky:first"));
        visitor_.run(benchmark::connected(visitor_.locker, "sticky:second"));
    }

    void run()
    {
        std::vector<float> waits;
        for (std::size_t i = 0; i < wanted_.warm_up + wanted_.rounds; ++i) {
            // A name of its own: it was not contended before.
            const std::string name = "sticky:" + std::to_string(i);
            const auto waited = wanted_.how == "linger" ? after_lingering(name) : handed(name);
            if (i >= wanted_.warm_up)
                waits.push_back(std::chrono::duration<float, std::micro>(waited).count());
        }
        boost::json::object figures;
        benchmark::add_quantiles(figures, "wait_us", waits);
        benchmark::print(figures);
        holder_.run(close(holder_.locker));
        visitor_.run(close(visitor_.locker));
    }

private:
    clock::duration after_lingering(const std::string& name)
    {
        holdfast::lock_options options;
        options.linger = std::chrono::seconds(30);
        holder_.run(use(holdfast::lock(holder_.locker, name, options)));
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // until the node will tell
        const auto begin = clock::now();
        return visitor_.run(pass_through(holdfast::lock(visitor_.locker, name))) - begin;
    }

    clock::duration handed(const std::string& name)
    {
        holdfast::lease held = holder_.run(take(holdfast::lock(holder_.locker, name)));
        auto waits = visitor_.begin(pass_through(holdfast::lock(visitor_.locker, name)));
        std::this_thread::sleep_for(std::chrono::milliseconds(4)); // until it is in the queue
        const auto begin = holder_.run(release(held));
        return waits.get() - begin;
    }

    const settings wanted_;
    party holder_, visitor_;
};

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("sticky_client");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("how", po::value(&wanted.how)->default_value(wanted.how),
        "linger or hand_over")("rounds", number(wanted.rounds), "waits that are measured")(
        "warm-up", number(wanted.warm_up), "waits before");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;
    if (wanted.how != "linger" && wanted.how != "hand_over")
        throw std::invalid_argument("--how must be linger or hand_over");
    contest(wanted).run();
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("sticky_client", [&] { run(argc, argv); });
}
