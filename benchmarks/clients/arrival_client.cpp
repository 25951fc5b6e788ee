// Asks for locks at a fixed rate, even if earlier ones have not been granted. Each is on its own
// resource and is released at once. Its time counts from the instant at which it was due. Prints
// the number of leases granted in time, per bucket, as one line of JSON.
#include "closed_loop.hpp"
#include "command_line.hpp"
#include "connected.hpp"
#include "outcomes.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace po = boost::program_options;
using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct settings {
    std::size_t rate = 10'000, wait_ms = 10'000, shed = 0, held = 0;
    std::size_t warm_up_ms = 500, length_ms = 1'000;
    std::vector<std::string> nodes;
};

constexpr milliseconds tick(1), bucket(50);

// An arrival that the thread processes later than this is turned away without asking.
constexpr milliseconds patience(200);

class arrivals {
public:
    arrivals(const settings& wanted, asio::io_context& io)
        : wanted_(wanted),
          io_(io),
          locker_(io.get_executor(), holdfast::redlock(std::vector<holdfast::endpoint>(
                                         wanted.nodes.begin(), wanted.nodes.end())))
    {}

    asio::awaitable<void> run();

private:
    std::size_t number_due(clock_type::duration in) const;
    clock_type::time_point due(std::size_t number) const;
    void ask(std::size_t number, clock_type::time_point now);
    void ask_for_all_due(clock_type::time_point now);
    void note(const holdfast::error_code& error, clock_type::time_point was_due);
    void print();

    const settings wanted_;
    const milliseconds wait_{wanted_.wait_ms};
    const std::string prefix_ = "arrival:" + std::to_string(::getpid()) + ':';
    asio::io_context& io_;
    holdfast::locker locker_;
    benchmark::bystanders held_{locker_, prefix_};
    clock_type::time_point begin_{}, counted_from_{}, end_{};
    std::size_t arrived_before_ = 0; // since the beginning
    std::size_t waiting_ = 0;
    std::size_t arrived_ = 0, turned_away_ = 0; // in the counted time
    std::size_t late_ = 0;                      // granted, but after the wait
    double cpu_begin_ = 0;
    benchmark::outcomes outcomes_{};
    std::vector<std::uint64_t> buckets_ =
        std::vector<std::uint64_t>(wanted_.length_ms / bucket.count());
};

std::size_t arrivals::number_due(clock_type::duration in) const
{
    return static_cast<std::size_t>(
        std::chrono::duration<double>(in).count() * static_cast<double>(wanted_.rate));
}

clock_type::time_point arrivals::due(std::size_t number) const
{
    const std::chrono::duration<double> in(
        static_cast<double>(number) / static_cast<double>(wanted_.rate));
    return begin_ + std::chrono::duration_cast<clock_type::duration>(in);
}

void arrivals::note(const holdfast::error_code& error, clock_type::time_point was_due)
{
    --waiting_;
    const auto now = clock_type::now();
    if (now < counted_from_ || now >= end_)
        return;
    outcomes_.count(error, now - was_due);
    if (error)
        return;
    if (now - was_due > wait_) {
        ++late_;
        return;
    }
    const auto place = static_cast<std::size_t>((now - counted_from_) / bucket);
    if (place < buckets_.size())
        ++buckets_[place];
}

void arrivals::ask(std::size_t number, clock_type::time_point now)
{
    ++waiting_;
    const auto was_due = due(number);
    holdfast::lock_options options;
    const auto late = std::chrono::duration_cast<milliseconds>(now - was_due);
    options.wait = std::max(wait_ - late, milliseconds(0));
    const holdfast::lock lock(locker_, prefix_ + std::to_string(number), options);
    lock.acquire([this, was_due](const holdfast::error_code& error, holdfast::lease lease) {
        note(error, was_due);
        if (!error)
            lease.release([](const holdfast::error_code&, holdfast::release_outcome) {});
    });
}

void arrivals::ask_for_all_due(clock_type::time_point now)
{
    const std::size_t all = number_due(now - begin_), arrived = all - arrived_before_;
    const std::size_t room =
        wanted_.shed == 0 ? arrived : wanted_.shed - std::min(waiting_, wanted_.shed);
    const std::size_t patient = std::min(arrived, number_due(patience)); // the last ones
    const std::size_t asking = std::min(patient, room);
    arrived_before_ = all;
    if (now >= counted_from_) {
        arrived_ += arrived;
        turned_away_ += arrived - asking;
    }
    for (std::size_t i = all - patient; i < all - patient + asking; ++i)
        ask(i, now);
}

void arrivals::print()
{
    const auto stats = locker_.stats();
    json::array buckets(buckets_.begin(), buckets_.end());
    const std::chrono::duration<double> begin = counted_from_.time_since_epoch();
    json::object figures{{"rate", wanted_.rate},
        {"seconds", std::chrono::duration<double>(end_ - counted_from_).count()},
        {"arrived", arrived_}, {"turned_away", turned_away_}, {"late", late_},
        {"cpu_seconds", benchmark::cpu_seconds_now() - cpu_begin_}, {"begin", begin.count()},
        {"bucket_seconds", std::chrono::duration<double>(bucket).count()}, {"buckets", buckets},
        {"attempts", stats.attempts}, {"acquired", stats.acquired},
        {"resident_bytes", benchmark::resident_bytes_now()}};
    outcomes_.add_to(figures);
    held_.add_to(figures);
    benchmark::print(figures);
}

asio::awaitable<void> arrivals::run()
{
    co_await benchmark::connected(locker_, prefix_ + "first");
    co_await held_.acquire(wanted_.held);
    asio::steady_timer timer(io_);
    begin_ = clock_type::now();
    counted_from_ = begin_ + milliseconds(wanted_.warm_up_ms);
    end_ = counted_from_ + milliseconds(wanted_.length_ms);
    auto next_look = begin_;
    for (auto now = begin_; now < end_; now = clock_type::now()) {
        ask_for_all_due(now);
        if (now >= next_look) {
            held_.look();
            next_look = now + bucket;
        }
        if (now < counted_from_)
            cpu_begin_ = benchmark::cpu_seconds_now();
        timer.expires_at(now + tick);
        co_await timer.async_wait(asio::use_awaitable);
    }
    print();
    io_.stop(); // abandons the acquires that still wait
}

void run(int argc, char** argv)
{
    settings wanted;
    po::options_description options("arrival_client");
    const auto number = [](std::size_t& n) {
        return po::value(&n)->default_value(n)->value_name("N");
    };
    options.add_options()("rate", number(wanted.rate), "arrivals per second");
    options.add_options()(
        "wait", number(wanted.wait_ms), "milliseconds that each arrival may wait");
    options.add_options()(
        "shed", number(wanted.shed), "if not 0, arrivals are turned away while this many wait");
    options.add_options()("warm-up", number(wanted.warm_up_ms), "milliseconds before the count");
    options.add_options()("length", number(wanted.length_ms), "milliseconds that are counted");
    options.add_options()("held", number(wanted.held), "leases held meanwhile, at ttl 10 s");
    if (!benchmark::parse(options, wanted.nodes, argc, argv))
        return;

    asio::io_context io(1);
    arrivals all(wanted, io);
    benchmark::run_to_end(io, all.run());
}

} // namespace

int main(int argc, char** argv)
{
    return benchmark::guarded("arrival_client", [&] { run(argc, argv); });
}
