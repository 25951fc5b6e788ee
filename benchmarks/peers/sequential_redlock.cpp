// A textbook Redlock on hiredis: one node after another, blocking, with a thread and a connection
// to each node per lock in flight. Acquires and releases distinct resources and prints the figures
// as one line of JSON, like lock_client.
//
// Settings: TCP_NODELAY, the release script by EVALSHA, a new token for each attempt, a random
// generator per thread. It does not stop at a majority of SETs or of deletions, because the
// algorithm as published asks all nodes in turn.
#include "clients/load_options.hpp"

#include <hiredis/hiredis.h>

#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

using benchmark::clock;

constexpr const char* release_text =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
constexpr std::chrono::milliseconds ttl(10'000);

using reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;
using connection = std::unique_ptr<redisContext, decltype(&redisFree)>;

template <class... Values>
reply ask(const connection& node, const char* format, Values... values)
{
    reply r(
        static_cast<redisReply*>(redisCommand(node.get(), format, values...)), &freeReplyObject);
    if (!r)
        throw std::runtime_error(node->errstr);
    if (r->type == REDIS_REPLY_ERROR)
        throw std::runtime_error(r->str);
    return r;
}

class redlock {
public:
    explicit redlock(const std::vector<std::string>& urls)
    {
        for (const std::string& url : urls) {
            const int port = std::stoi(url.substr(url.rfind(':') + 1));
            connection& node = nodes_.emplace_back(redisConnect("127.0.0.1", port), &redisFree);
            if (!node || node->err != 0)
                throw std::runtime_error("cannot connect");
            script_ = ask(node, "SCRIPT LOAD %s", release_text)->str;
        }
    }

    bool acquire(const std::string& key)
    {
        const auto begin = clock::now();
        make_token();
        std::size_t granted = 0;
        for (const connection& node : nodes_) {
            const reply r = ask(node, "SET %s %s NX PX %lld", key.c_str(), token_,
                static_cast<long long>(ttl.count()));
            granted += r->type == REDIS_REPLY_STATUS ? 1u : 0u;
        }
        const auto validity =
            ttl - (clock::now() - begin) - ttl / 100 - std::chrono::milliseconds(2);
        if (granted >= nodes_.size() / 2 + 1 && validity > clock::duration(0))
            return true;
        release(key);
        return false;
    }

    void release(const std::string& key)
    {
        for (const connection& node : nodes_)
            ask(node, "EVALSHA %s 1 %s %s", script_.c_str(), key.c_str(), token_);
    }

private:
    void make_token()
    {
        std::snprintf(token_, sizeof token_, "%016llx%016llx",
            static_cast<unsigned long long>(random_()), static_cast<unsigned long long>(random_()));
    }

    std::vector<connection> nodes_;
    std::string script_;
    std::mt19937_64 random_{std::random_device()()};
    char token_[33] = {};
};

struct crew {
    std::atomic<std::size_t> connected = 0;
    std::atomic<bool> counting = false, stopping = false;
    bool latency = false;
};

struct tally {
    std::uint64_t locks = 0;
    std::vector<float> acquire_us, cycle_us;
};

float us_since(clock::time_point begin)
{
    return std::chrono::duration<float, std::micro>(clock::now() - begin).count();
}

void work(crew& all, tally& mine, const std::vector<std::string>& urls, const std::string& key)
{
    redlock locks(urls);
    ++all.connected;
    while (!all.stopping) {
        const auto asked = clock::now();
        while (!locks.acquire(key)) {
        }
        const float acquire_us = us_since(asked);
        locks.release(key);
        if (!all.counting)
            continue;
        ++mine.locks;
        if (all.latency) {
            mine.acquire_us.push_back(acquire_us);
            mine.cycle_us.push_back(us_since(asked));
        }
    }
}

void work_or_end(crew& all, tally& mine, const std::vector<std::string>& urls, std::string key)
try {
    work(all, mine, urls, key);
} catch (const std::exception& e) {
    std::fprintf(stderr, "sequential_redlock: %s\n", e.what());
    std::_Exit(2);
}

void allow_many_connections()
{
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

benchmark::result measure(const benchmark::load& wanted, const std::vector<std::string>& urls)
{
    allow_many_connections();
    crew all;
    all.latency = wanted.latency;
    std::vector<tally> tallies(wanted.concurrency);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < wanted.concurrency; ++i)
        threads.emplace_back(work_or_end, std::ref(all), std::ref(tallies[i]), std::cref(urls),
            "bench:" + std::to_string(i));
    while (all.connected < wanted.concurrency)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(wanted.warm_up);

    const auto begin = clock::now();
    const double cpu_begin = benchmark::cpu_seconds_now();
    all.counting = true;
    std::this_thread::sleep_for(wanted.length);
    all.counting = false;
    benchmark::result r;
    r.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    r.cpu_seconds = benchmark::cpu_seconds_now() - cpu_begin;
    all.stopping = true;
    for (std::thread& thread : threads)
        thread.join();
    for (const tally& one : tallies) {
        r.locks += one.locks;
        r.acquire_us.insert(r.acquire_us.end(), one.acquire_us.begin(), one.acquire_us.end());
        r.cycle_us.insert(r.cycle_us.end(), one.cycle_us.begin(), one.cycle_us.end());
    }
    return r;
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("sequential_redlock", [&] {
        benchmark::load_options options("sequential_redlock");
        if (options.parse(argc, argv))
            benchmark::print(benchmark::figures(measure(options.wanted(), options.nodes())));
    });
}
