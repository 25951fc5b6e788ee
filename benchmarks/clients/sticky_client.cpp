// How long a process waits for a resource that another one has, in microseconds, as one line of
// JSON. The other one, the visitor, is started by this program, with --visitor. `--how` says what
// this program does:
//
//     linger      it has used the resource, and keeps it: `linger`. Counted from the acquire. In
//                 turn with that the visitor uses a resource that nobody has, after the same pause:
//                 that takes two round trips
//     hand_over   it holds the resource, and the visitor waits already. Counted from the release
#include "command_line.hpp"
#include "connected.hpp"
#include "quantiles.hpp"
#include "support/child_process.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace po = boost::program_options;
namespace asio = boost::asio;
using clock = std::chrono::steady_clock; // the same in all processes of a machine
using namespace std::chrono_literals;
using holdfast::test::child_options;
using holdfast::test::child_process;

constexpr auto until_the_node_will_tell = 2ms;
constexpr auto until_it_is_in_the_queue = 4ms;

struct settings {
    std::string how = "linger";
    std::size_t rounds = 500, warm_up = 50;
    bool visitor = false;
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
    Result run(asio::awaitable<Result> what)
    {
        return asio::co_spawn(io_, std::move(what), asio::use_future).get();
    }

private:
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};

public:
    holdfast::locker locker;

private:
    std::thread thread_;
};

// The instants of one use of a resource.
struct visit {
    clock::time_point asked, acquired, released;
};

asio::awaitable<visit> use(holdfast::lock lock)
{
    visit times{.asked = clock::now(), .acquired = {}, .released = {}};
    holdfast::lease held = co_await lock.acquire();
    times.acquired = clock::now();
    co_await held.release();
    times.released = clock::now();
    co_return times;
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

asio::awaitable<void> close(holdfast::locker& locker)
{
    co_await locker.close();
}

std::int64_t nanoseconds(clock::time_point when)
{
    return std::chrono::nanoseconds(when.time_since_epoch()).count();
}

// The visitor: reads a name per line, uses that resource, and prints when.
void visit_all(const settings& wanted)
{
    party visitor(wanted.nodes);
    visitor.run(benchmark::connected(visitor.locker, "sticky:second"));
    std::cout << "ready" << std::endl;
    for (std::string name; std::getline(std::cin, name);) {
        const visit times = visitor.run(use(holdfast::lock(visitor.locker, name)));
        std::cout << nanoseconds(times.asked) << ' ' << nanoseconds(times.acquired) << ' '
                  << nanoseconds(times.released) << std::endl;
    }
    visitor.run(close(visitor.locker));
}

std::vector<std::string> visitor_command(const settings& wanted)
{
    std::vector<std::string> words{holdfast::test::this_program(), "--visitor"};
    for (const std::string& node : wanted.nodes)
        words.push_back("--node=" + node);
    return words;
}

class contest {
public:
    explicit contest(const settings& given)
        : wanted_(given),
          visitor_(visitor_command(given), {.piped = child_options::pipes::input_and_output}),
          holder_(given.nodes)
    {
        holder_.run(benchmark::connected(holder_.locker, "sticky:first"));
        if (visitor_.read_line() != "ready")
            throw std::runtime_error("the visitor has not started");
    }

    void run()
    {
        std::vector<float> waits, round_trips;
        const auto add = [](std::vector<float>& all, clock::duration took) {
            all.push_back(std::chrono::duration<float, std::micro>(took).count());
        };
        for (std::size_t i = 0; i < wanted_.warm_up + wanted_.rounds; ++i) {
            const bool counts = i >= wanted_.warm_up;
            // A name of its own: it was not contended before.
            const std::string name = "sticky:" + std::to_string(i);
            const bool lingers = wanted_.how == "linger";
            const auto waited = lingers ? after_lingering(name) : handed(name);
            if (counts)
                add(waits, waited);
            if (!lingers)
                continue;
            const auto took = uncontended(name);
            if (counts)
                add(round_trips, took);
        }
        boost::json::object figures;
        benchmark::add_quantiles(figures, "wait_us", waits);
        benchmark::add_quantiles(figures, "round_trips_us", round_trips);
        benchmark::print(figures);
        holder_.run(close(holder_.locker));
    }

private:
    clock::duration after_lingering(const std::string& name)
    {
        holdfast::lock_options options;
        options.linger = 30s;
        holder_.run(use(holdfast::lock(holder_.locker, name, options)));
        std::this_thread::sleep_for(until_the_node_will_tell);
        visitor_.write_line(name);
        const visit times = read_visit();
        return times.acquired - times.asked;
    }

    clock::duration uncontended(const std::string& name)
    {
        holder_.run(use(holdfast::lock(holder_.locker, name + ":other")));
        std::this_thread::sleep_for(until_the_node_will_tell);
        visitor_.write_line(name + ":free");
        const visit times = read_visit();
        return times.released - times.asked;
    }

    clock::duration handed(const std::string& name)
    {
        holdfast::lease held = holder_.run(take(holdfast::lock(holder_.locker, name)));
        visitor_.write_line(name);
        std::this_thread::sleep_for(until_it_is_in_the_queue);
        const auto begin = holder_.run(release(held));
        return read_visit().acquired - begin;
    }

    visit read_visit()
    {
        std::istringstream line(visitor_.read_line());
        std::int64_t asked = 0, acquired = 0, released = 0;
        if (!(line >> asked >> acquired >> released))
            throw std::runtime_error("the visitor has failed");
        const auto instant = [](std::int64_t since_epoch) {
            return clock::time_point(std::chrono::nanoseconds(since_epoch));
        };
        return {instant(asked), instant(acquired), instant(released)};
    }

    const settings wanted_;
    child_process visitor_; // before there are threads
    party holder_;
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
        "warm-up", number(wanted.warm_up), "waits before")(
        "visitor", po::bool_switch(&wanted.visitor), "be the other process");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;
    if (wanted.how != "linger" && wanted.how != "hand_over")
        throw std::invalid_argument("--how must be linger or hand_over");
    if (wanted.visitor)
        visit_all(wanted);
    else
        contest(wanted).run();
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("sticky_client", [&] { run(argc, argv); });
}
