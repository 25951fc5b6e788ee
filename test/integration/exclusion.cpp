// The purpose of a lock: no two holders are in the critical section at the same time.
#include "support/child_process.hpp"
#include "support/cluster.hpp"

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <exception>
#include <future>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(exclusion)

// A number in a separate Redis server, read and written without any protection but the lock.
class shared_number {
public:
    explicit shared_number(const redis_server& server) : port_(server.port()) {}

    task add_one(steady::duration work)
    {
        const int before = std::stoi(client_.command(port_, {"GET", "number"}, 5s));
        co_await pause(work);
        client_.command(port_, {"SET", "number", std::to_string(before + 1)}, 5s);
    }

private:
    std::uint16_t port_;
    redis_client client_;
};

struct worker {
    worker(asio::thread_pool& pool, const backend& store, const redis_server& server)
        : strand(asio::make_strand(pool)),
          locker(strand, store),
          number(server)
    {}

    asio::strand<asio::thread_pool::executor_type> strand;
    holdfast::locker locker;
    shared_number number;
};

task add(worker& w, lock_options options, int times, steady::duration work)
{
    const holdfast::lock lock(w.locker, "number", options);
    for (int i = 0; i < times; ++i) {
        lease held = co_await lock.acquire(forever);
        co_await w.number.add_one(work);
        const release_outcome outcome = co_await held.release();
        if (outcome != release_outcome::released)
            throw std::runtime_error("the lease ended before the work");
    }
    co_await w.locker.close();
}

// Runs the workers on two threads, each with its own locker, like separate processes. Returns the
// final number.
int count_together(const std::vector<int>& times, lock_options options, steady::duration work)
{
    cluster c(3);
    redis_server server;
    server.command({"SET", "number", "0"});
    asio::thread_pool pool(2);
    std::deque<worker> workers;
    std::vector<std::future<void>> ends;
    for (const int each : times) {
        worker& w = workers.emplace_back(pool, c.store(), server);
        ends.push_back(asio::co_spawn(w.strand, add(w, options, each, work), asio::use_future));
    }
    for (auto& end : ends) {
        BOOST_REQUIRE((end.wait_for(hang_limit) == std::future_status::ready));
        end.get();
    }
    pool.join();
    return std::stoi(server.command({"GET", "number"}));
}

BOOST_AUTO_TEST_CASE(ten_workers_count_to_ten)
{
    lock_options options;
    options.ttl = 10s;
    const std::vector<int> once_each(10, 1);
    BOOST_TEST(count_together(once_each, options, 100ms) == 10);
}

BOOST_AUTO_TEST_CASE(renewal_protects_work_that_takes_longer_than_the_ttl)
{
    lock_options options;
    options.ttl = 3s;
    BOOST_TEST(count_together({2, 1, 1}, options, 3500ms) == 4);
}

struct diary {
    steady::time_point ends, stopped, next;
};

task work_too_long(lease& held, diary& d)
{
    d.ends = held.valid_until();
    try {
        co_await pause(30s);
        BOOST_ERROR("the work was not stopped");
    } catch (const boost::system::system_error&) {
        d.stopped = steady::now();
        throw;
    }
}

task hold_too_long(holdfast::lock lock, diary& d)
{
    error_code why;
    try {
        auto body = [&d](lease& held) {
            return work_too_long(held, d);
        };
        co_await lock.hold(body);
    } catch (const boost::system::system_error& e) {
        why = e.code();
    }
    BOOST_TEST(why == errc::lease_lost);
}

task note_next(holdfast::lock lock, diary& d)
{
    while (d.ends == steady::time_point()) // the first one works
        co_await pause(1ms);
    lease held = co_await lock.acquire(forever);
    d.next = steady::now();
}

BOOST_AUTO_TEST_CASE(without_renewal_the_work_stops_before_the_next_holder_begins)
{
    cluster c(3);
    lock_options options;
    options.ttl = 4s;
    options.guard = 2s; // longer than delays on a busy machine
    options.renewal = renewal::manual;
    diary d;
    scene s(c.store(), 2);
    std::vector<task> both;
    both.push_back(hold_too_long(s.lock(0, options), d));
    both.push_back(note_next(s.lock(1), d));
    run(s.io, std::move(both));
    BOOST_TEST((d.stopped < d.ends));
    BOOST_TEST((d.stopped < d.next));
    s.finish();
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_killed_process_is_free_after_its_ttl_and_not_before)
{
    cluster c(3);
    const auto ttl = 2s;
    std::vector<std::string> words{HOLDFAST_LOCK_HOLDER, "resource", "2000"};
    for (const auto& url : urls(c.nodes))
        words.push_back(url);

    for (const auto life : {0ms, 1500ms}) { // before its first renewal, and after several
        child_process holder(words);
        const auto first = holder.read_line();
        BOOST_REQUIRE(!first.empty());
        std::this_thread::sleep_for(life);
        holder.kill();
        const auto killed = steady::now();

        auto last = first;
        for (auto line = first; !line.empty(); line = holder.read_line())
            last = line;
        const steady::time_point valid_until{steady::duration(std::stoll(last))};
        BOOST_TEST((valid_until > killed)); // it was killed while it held the lock
        BOOST_TEST((life == 0ms || last != first));

        scene s(c.store());
        run(s.io, [](holdfast::locker& locker) -> task {
            lease held = co_await holdfast::lock(locker, "resource").acquire();
        }(s.locker()));
        const auto granted = steady::now();
        BOOST_TEST((granted >= valid_until));
        BOOST_TEST((granted < killed + ttl + 5s));
        s.finish();
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
