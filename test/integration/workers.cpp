#include "integration/workers.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace holdfast::test {
namespace {

constexpr auto poll = 5ms;
constexpr auto pause_between_actions = 250ms;

std::vector<std::string> command_line(const job& work, std::size_t holder,
    const std::string& journal, const std::string& folder, const std::vector<std::string>& urls)
{
    std::vector<std::string> words{HOLDFAST_LOCK_WORKER, work.lock, std::to_string(holder), journal,
        folder + "/number-" + work.resource, work.resource, std::to_string(work.ttl.count()),
        std::to_string(work.guard.count()),
        std::to_string(std::chrono::milliseconds(work.work).count())};
    words.insert(words.end(), urls.begin(), urls.end());
    return words;
}

steady::time_point time_of(long long nanoseconds)
{
    return steady::time_point(std::chrono::nanoseconds(nanoseconds));
}

// Later lines may update the same hold.
void take_line(journal& all, const std::string& line)
{
    std::istringstream words(line);
    std::string kind, resource, holder, why;
    long long first = 0, second = 0;
    words >> kind;
    if (kind == "wrote" && words >> first)
        all.numbers.push_back(static_cast<long>(first));
    else if (kind == "failed" && words >> first >> second)
        all.failures.emplace_back(time_of(first), static_cast<errc>(second));
    else if (kind == "held" && words >> resource >> holder >> first >> second) {
        if (all.holds.empty() || all.holds.back().from != time_of(first))
            all.holds.push_back({resource, time_of(first), {}, {}, {}});
        all.holds.back().valid_until = time_of(second);
    } else if (kind == "over" && words >> resource >> holder >> first >> second >> why) {
        all.holds.back().over = time_of(second);
        all.holds.back().why = why;
    } else
        throw std::runtime_error("a worker wrote: " + line);
}

} // namespace

worker::worker(const job& work, std::size_t holder, const std::string& folder,
    const std::vector<std::string>& urls)
    : resource_(work.resource),
      journal_(folder + "/journal-" + std::to_string(holder)),
      holder_(holder),
      process_(command_line(work, holder, journal_, folder, urls))
{
    BOOST_REQUIRE_MESSAGE(process_.read_line() == "started", "a worker did not start");
}

void worker::freeze()
{
    was_frozen_ = true;
    process_.pause();
}

void worker::thaw()
{
    process_.resume();
}

void worker::kill()
{
    killed_ = true;
    process_.kill();
}

void worker::ask_to_end()
{
    process_.ask_to_end();
}

bool worker::ends_well()
{
    return killed_ || process_.read_line() == "done";
}

journal worker::read() const
{
    journal all;
    std::ifstream file(journal_);
    for (std::string line; std::getline(file, line) && !file.eof();)
        take_line(all, line);
    return all;
}

std::vector<holding> worker::holdings() const
{
    std::vector<holding> all;
    for (const auto& each : read().holds) {
        auto until = each.over.value_or(each.valid_until);
        if (was_frozen_)
            until = std::min(until, each.valid_until);
        all.push_back(
            {each.resource, holder_, each.from.time_since_epoch(), until.time_since_epoch()});
    }
    return all;
}

worker& team::add(const job& work, const std::vector<std::string>& urls)
{
    return workers.emplace_back(work, workers.size(), folder_.path(), urls);
}

void team::add_both_kinds(cluster& c, const std::vector<std::string>& urls, const job& keeping)
{
    add(keeping, urls);
    wait_for_holder();
    wait_until("the key on all nodes", [&] { return c.copies("long") == c.size(); });
    add(keeping, urls);
    for (int i = 0; i < 3; ++i)
        add({}, urls);
}

void team::wait_until(const std::string& what, const std::function<bool()>& so)
{
    const auto deadline = steady::now() + 20s;
    auto next_action = steady::now();
    while (!so()) {
        BOOST_REQUIRE_MESSAGE(steady::now() < deadline, "timed out waiting for " << what);
        if (meanwhile && steady::now() >= next_action) {
            meanwhile();
            next_action = steady::now() + pause_between_actions;
        }
        std::this_thread::sleep_for(poll);
    }
}

void team::wait_for_holds(std::size_t count, const std::string& resource)
{
    const auto begin = steady::now();
    wait_until(std::to_string(count) + " holds", [&] {
        const auto all = holds(resource);
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(),
                   [&](const auto& each) { return each.from > begin; })) >= count;
    });
}

worker& team::wait_for_holder(const std::string& resource, const worker* excluded)
{
    worker* found = nullptr;
    wait_until("a holder", [&] {
        for (auto& each : workers) {
            const auto all = each.read().holds;
            if (&each != excluded && each.resource() == resource && !all.empty() &&
                !all.back().over && all.back().valid_until > steady::now())
                found = &each;
        }
        return found != nullptr;
    });
    return *found;
}

void team::wait_for_renewals(worker& holder, steady::duration length)
{
    const auto goal = steady::now() + length;
    const auto index = holder.read().holds.size() - 1;
    wait_until("renewals", [&] {
        const auto all = holder.read();
        const auto& hold = all.holds.at(index);
        if (hold.over)
            BOOST_FAIL("the lease has ended: " << hold.why << " "
                                               << (hold.valid_until - *hold.over) / 1ms
                                               << " ms before its time");
        return hold.valid_until > goal;
    });
}

hold_record team::wait_for_end(worker& holder)
{
    const auto index = holder.read().holds.size() - 1;
    wait_until("the end of a hold", [&] { return holder.read().holds.at(index).over.has_value(); });
    return holder.read().holds.at(index);
}

void team::wait_for_failure(errc error, const std::string& resource)
{
    const auto begin = steady::now();
    wait_until("the failure \"" + make_error_code(error).message() + "\"", [&] {
        for (const auto& each : workers) {
            const auto failures = each.read().failures;
            if (each.resource() == resource && !failures.empty() && failures.back().first > begin &&
                failures.back().second == error)
                return true;
        }
        return false;
    });
}

std::vector<hold_record> team::holds(const std::string& resource) const
{
    std::vector<hold_record> all;
    for (const auto& each : workers) {
        if (each.resource() != resource)
            continue;
        const auto own = each.read().holds;
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

std::vector<holding> team::history() const
{
    std::vector<holding> all;
    for (const auto& each : workers) {
        const auto own = each.holdings();
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

std::vector<long> team::lost_numbers() const
{
    std::vector<long> lost;
    const auto was_frozen = [](const worker& each) {
        return each.was_frozen();
    };
    if (std::any_of(workers.begin(), workers.end(), was_frozen))
        return lost; // its late number may have been read by another worker
    std::set<std::pair<std::string, long>> written;
    for (const auto& each : workers) {
        for (const long number : each.read().numbers) {
            if (!written.emplace(each.resource(), number).second)
                lost.push_back(number);
        }
    }
    return lost;
}

void team::end_all()
{
    meanwhile = nullptr;
    for (auto& each : workers)
        each.ask_to_end();
    for (auto& each : workers) {
        BOOST_TEST(each.ends_well(), "worker " << each.holder() << " did not end well");
        const auto all = each.read().holds;
        const bool closed = all.empty() || all.back().over || each.killed();
        BOOST_TEST(closed, "a worker has ended without the end of its hold");
    }
}

void team::finish()
{
    end_all();
    for (const auto& each : overlaps(history()))
        BOOST_ERROR("worker " << each.second.holder << " held \"" << each.second.resource
                              << "\" from " << each.second.from.count() << " ns, but worker "
                              << each.first.holder << " did until " << each.first.until.count());
    for (const long number : lost_numbers())
        BOOST_ERROR("two workers have written " << number);
}

// The ttl of the queue of waiters after the last sign of life of a waiter, and the ttl of the key
// that records when a polling window was opened.
constexpr auto queue_ttl = 3s, window_period = 5s;

void expect_nothing_left(cluster& c)
{
    BOOST_TEST(
        c.empty_within(std::max<std::chrono::milliseconds>({job{}.ttl, queue_ttl, window_period})),
        "a key lasts for longer than its ttl");
}

} // namespace holdfast::test
