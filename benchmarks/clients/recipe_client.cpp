// Uses a recipe, or the plain way to the same end, from many coroutines at once, and prints how
// often, as one line of JSON. `--how` says which:
//
//     lock         one lock; each coroutine has a resource of its own, unless --shared
//     in_turn      --members locks, one after the other, in the order of their names
//     multi_lock   the same members together
//     semaphore    one of --permits permits
//     read, write  a read-write lock that all share
//     hold, run    a body that does nothing but the work: by lock::hold(), by election::run()
//     fresh        one lock; a resource that nobody has used before, each time
//     min_hold     the same, and the key stays for one second
//
// With --resources N the members of `in_turn` and `multi_lock` are random ones of N that all share.
#include "closed_loop.hpp"
#include "command_line.hpp"
#include "common_begin.hpp"
#include "connected.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace po = boost::program_options;
namespace asio = boost::asio;
using holdfast::lock_options;
using nothing = asio::awaitable<void>;

struct settings {
    std::string how = "lock";
    std::size_t concurrency = 64, length = 1000, warm_up = 300;
    std::size_t members = 3, permits = 8, resources = 0, work_us = 0, linger = 0;
    bool shared = false, fenced = false;
    std::int64_t begin_ms = 0;
    std::vector<std::string> nodes;
};

holdfast::backend store_of(const settings& given)
{
    holdfast::redlock_options options;
    options.fencing = given.fenced ? holdfast::fencing::on : holdfast::fencing::off;
    options.fence.first_deployment = true;
    return holdfast::redlock({given.nodes.begin(), given.nodes.end()}, options);
}

struct field {
    field(const settings& given, asio::io_context& context)
        : wanted(given),
          io(context),
          locker(io.get_executor(), store_of(given)),
          permits(locker, "recipes:calls", given.permits, patient()),
          book(locker, "recipes:book", patient()),
          mine(std::to_string(std::random_device()()))
    {}

    static lock_options patient()
    {
        lock_options options;
        options.wait = holdfast::forever;
        return options;
    }
    lock_options of_lock() const
    {
        lock_options options = patient();
        options.linger = std::chrono::milliseconds(wanted.linger);
        return options;
    }

    const settings wanted;
    asio::io_context& io;
    holdfast::locker locker;
    holdfast::semaphore permits;
    holdfast::read_write_lock book;
    const std::string mine; // makes names that no other process has
    std::minstd_rand random{static_cast<std::uint32_t>(::getpid())};
    std::uint64_t fresh = 0;
    benchmark::closed_loop loop;
};

// The place of one coroutine.
struct place {
    place(field& f, std::size_t n) : all(f), number(n) {}

    std::string own_name(std::size_t member = 0) const
    {
        return "recipes:" +
               (all.wanted.shared ? "shared" : all.mine + ":" + std::to_string(number)) + ":" +
               std::to_string(member);
    }
    std::vector<holdfast::resource> members() const
    {
        std::vector<std::size_t> chosen;
        while (chosen.size() < all.wanted.members) {
            const std::size_t next =
                all.wanted.resources == 0 ? chosen.size() : all.random() % all.wanted.resources;
            if (std::find(chosen.begin(), chosen.end(), next) == chosen.end())
                chosen.push_back(next);
        }
        std::sort(chosen.begin(), chosen.end());
        std::vector<holdfast::resource> names;
        for (const std::size_t each : chosen)
            names.emplace_back(all.wanted.resources == 0
                                   ? own_name(each)
                                   : "recipes:of all:" + std::to_string(each));
        return names;
    }

    field& all;
    const std::size_t number;
    asio::steady_timer timer{all.io};
    holdfast::lock own{all.locker, own_name(), all.of_lock()};
    holdfast::election office{own};
};

nothing work(place& here)
{
    if (here.all.wanted.work_us == 0)
        co_return;
    here.timer.expires_after(std::chrono::microseconds(here.all.wanted.work_us));
    co_await here.timer.async_wait(asio::use_awaitable);
}

nothing by_lock(place& here)
{
    holdfast::lease held = co_await here.own.acquire();
    co_await work(here);
    co_await held.release();
}

nothing in_turn(place& here)
{
    std::vector<holdfast::lease> held;
    const auto names = here.members();
    for (const auto& name : names) {
        const holdfast::lock each(here.all.locker, name, field::patient());
        holdfast::lease next = co_await each.acquire();
        held.push_back(std::move(next));
    }
    co_await work(here);
    for (auto& each : held)
        co_await each.release();
}

nothing together(place& here)
{
    const holdfast::multi_lock members(here.all.locker, here.members(), field::patient());
    holdfast::multi_lease held = co_await members.acquire();
    co_await work(here);
    co_await held.release();
}

nothing by_permit(place& here)
{
    holdfast::lease held = co_await here.all.permits.acquire();
    co_await work(here);
    co_await held.release();
}

nothing by_reading(place& here)
{
    holdfast::shared_lease held = co_await here.all.book.acquire_shared();
    co_await work(here);
    co_await held.release();
}

nothing by_writing(place& here)
{
    holdfast::lease held = co_await here.all.book.acquire();
    co_await work(here);
    co_await held.release();
}

nothing by_hold(place& here)
{
    auto body = [&here](holdfast::lease&) {
        return work(here);
    };
    auto held = here.own.hold(body);
    co_await std::move(held);
}

nothing by_run(place& here)
{
    auto body = [&here](holdfast::lease&) {
        return work(here);
    };
    auto leading = here.office.run(body);
    co_await std::move(leading);
}

nothing once(place& here, lock_options options)
{
    const std::string name = here.own_name() + ":" + std::to_string(++here.all.fresh);
    const holdfast::lock first(here.all.locker, name, options);
    holdfast::lease held = co_await first.acquire();
    co_await work(here);
    co_await held.release();
}

nothing by_fresh(place& here)
{
    return once(here, field::patient());
}

nothing for_a_second(place& here)
{
    lock_options options = field::patient();
    options.min_hold = std::chrono::seconds(1);
    return once(here, options);
}

using way = nothing (*)(place&);
const std::map<std::string, way> ways{{"lock", by_lock}, {"in_turn", in_turn},
    {"multi_lock", together}, {"semaphore", by_permit}, {"read", by_reading}, {"write", by_writing},
    {"hold", by_hold}, {"run", by_run}, {"fresh", by_fresh}, {"min_hold", for_a_second}};

nothing repeat(field& all, std::size_t number, way what)
{
    place here(all, number);
    while (all.loop.go_on()) {
        co_await what(here);
        all.loop.finish_one();
    }
    all.loop.leave();
}

nothing measure(field& all)
{
    co_await benchmark::connected(all.locker, "recipes:first:" + all.mine);
    const way what = ways.at(all.wanted.how);
    co_await benchmark::common_begin(all.wanted.begin_ms);
    all.loop.begin(all.io, all.wanted.concurrency,
        [&all, what](std::size_t i) { return repeat(all, i, what); });
    const auto in_all = co_await all.loop.measure(std::chrono::milliseconds(all.wanted.warm_up),
        std::chrono::milliseconds(all.wanted.length));
    benchmark::print(
        {{"done", in_all.done}, {"seconds", in_all.seconds}, {"cpu_seconds", in_all.cpu_seconds}});
    co_await all.locker.close();
}

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("recipe_client");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("how", po::value(&wanted.how)->default_value(wanted.how),
        "lock, in_turn, multi_lock, semaphore, read, write, hold, run, fresh or min_hold")(
        "concurrency", number(wanted.concurrency), "coroutines")(
        "length", number(wanted.length), "milliseconds that are measured")(
        "warm-up", number(wanted.warm_up), "milliseconds before the measurement")("members",
        number(wanted.members), "of in_turn and multi_lock")("resources", number(wanted.resources),
        "that all members are from; 0: one for each member")("permits", number(wanted.permits),
        "of the semaphore")("work", number(wanted.work_us), "microseconds of work under the lease")(
        "shared", po::bool_switch(&wanted.shared), "all want the same resource")(
        "linger", number(wanted.linger), "milliseconds, of lock, hold and run")(
        "fenced", po::bool_switch(&wanted.fenced), "with fencing tokens")("begin",
        po::value(&wanted.begin_ms)->default_value(wanted.begin_ms)->value_name("N"),
        "when all processes begin, in milliseconds since 1970; 0: at once");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;
    if (ways.count(wanted.how) == 0)
        throw std::invalid_argument("--how: there is no " + wanted.how);
    if (wanted.members == 0 || (wanted.resources != 0 && wanted.resources < wanted.members))
        throw std::invalid_argument("--members must be at least 1, and at most --resources");
    asio::io_context io(1);
    field all(wanted, io);
    benchmark::run_to_end(io, measure(all));
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("recipe_client", [&] { run(argc, argv); });
}
